import { writeFile } from 'node:fs/promises';
import { exportSchema, exportSchemaFile } from './exportSchema';
import { notices, noticesFile } from './notices';
import { seedsReference, seedsReferenceFile } from './seedsReference';
import { settingsReference, settingsReferenceFile } from './settingsReference';

/** `npm run docs`. */
void Promise.all([
  settingsReference().then((text) => writeFile(settingsReferenceFile, text)),
  seedsReference().then((text) => writeFile(seedsReferenceFile, text)),
  writeFile(exportSchemaFile, exportSchema()),
  notices().then((text) => writeFile(noticesFile, text)),
]);
