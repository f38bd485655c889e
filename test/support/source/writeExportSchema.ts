import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { ExportDocument } from '../../../src/core/transfer/exportDocument';
import { projectRoot } from '../paths';

/** `node dist/test/support/source/writeExportSchema.js` after a change of the document's format. */
writeFileSync(
  join(projectRoot, 'media', 'export.schema.json'),
  `${JSON.stringify({ title: 'Threadkeeper export', ...z.toJSONSchema(ExportDocument) }, null, 2)}\n`,
);
