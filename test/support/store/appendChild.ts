import { statSync } from 'node:fs';
import { appendLines } from '../../../src/node/transfer/openClaw/openClawReplies';
import { identityOf } from '../../../src/node/transfer/foreign/fileTail';

/** Appends a line to a file in a process of its own, whose limits the tests set. Prints what came of it. */
const [file, line] = process.argv.slice(2) as [string, string];
const found = statSync(file);
appendLines(file, [line], { identity: identityOf(found), offset: found.size }).then(
  (done) => console.log(`appended: ${done}`),
  (error: unknown) => console.log(`failed: ${String(error)}`),
);
