import { writeFile } from 'node:fs/promises';
import { settingsReference, settingsReferenceFile } from './settingsReference';

/** `npm run docs`. */
void settingsReference().then((text) => writeFile(settingsReferenceFile, text));
