import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../paths';
import { TestError } from '../testError';

interface PackageJson {
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
}

export const noticesFile = join(projectRoot, 'ThirdPartyNotices.txt');

/** Every package that has code in what ships, with its licence: from the list that the build has made, so nothing can be forgotten. */
export async function notices(): Promise<string> {
  const packages = JSON.parse(await readFile(join(projectRoot, 'dist', 'packages.json'), 'utf8')) as string[];
  const mit = await licenseIn(projectRoot);
  const parts = await Promise.all(packages.map((name) => notice(name, mit!.slice(mit!.indexOf('Permission is')))));
  return [
    'Threadkeeper contains parts of the packages below, under their licences. `npm run docs` writes this file from what is built.',
    ...parts,
    '',
  ].join(`\n\n${'='.repeat(100)}\n\n`);
}

/** `mit`: its words, for the packages that say that they are under it and bring no text along. */
async function notice(name: string, mit: string): Promise<string> {
  const folder = join(projectRoot, 'node_modules', ...name.split('/'));
  const { version, license, author = 'its authors' } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PackageJson;
  const holder = typeof author === 'string' ? author.replace(/ <.*/, '') : author.name;
  const text = (await licenseIn(folder)) ?? (license === 'MIT' ? `Copyright (c) ${holder}\n\n${mit}` : undefined);
  if (text === undefined) throw new TestError(`${name} comes without a licence.`);
  // SQLite itself is in its file of WebAssembly.
  const more = name === 'sql.js' ? '\n\nContains SQLite, which its authors have dedicated to the public domain.' : '';
  return `${name} ${version}, ${license ?? 'see below'}\n\n${text}${more}`;
}

async function licenseIn(folder: string): Promise<string | undefined> {
  const file = (await readdir(folder)).find((one) => /^licen[cs]e(?:\.(?:md|txt))?$/i.test(one));
  return file && (await readFile(join(folder, file), 'utf8')).replaceAll('\r\n', '\n').trim();
}
