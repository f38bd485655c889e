import { conforms } from './conformance';
import { ollamaSubject } from './subjects';

conforms(ollamaSubject);
