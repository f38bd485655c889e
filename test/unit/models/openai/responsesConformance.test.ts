import { conforms } from '../conformance';
import { responsesSubject } from '../subjects';

conforms(responsesSubject);
