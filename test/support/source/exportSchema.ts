import { join } from 'node:path';
import * as z from 'zod';
import { ExportDocument } from '../../../src/core/transfer/exportDocument';
import { projectRoot } from '../paths';

export const exportSchemaFile = join(projectRoot, 'media', 'export.schema.json');

/** The schema of exports as it is published. */
export function exportSchema(): string {
  return `${JSON.stringify({ title: 'Threadkeeper export', ...z.toJSONSchema(ExportDocument) }, null, 2)}\n`;
}
