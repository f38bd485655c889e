import { conforms } from '../conformance';
import { openaiSubject } from '../subjects';

conforms(openaiSubject);
