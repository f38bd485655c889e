import { conforms } from '../conformance';
import { anthropicSubject } from '../subjects';

conforms(anthropicSubject);
