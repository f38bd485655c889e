import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../paths';

interface Property {
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly scope?: string;
  readonly order?: number;
  readonly markdownDescription?: string;
  readonly description?: string;
}

interface Section {
  readonly title: string;
  readonly order?: number;
  readonly properties: Readonly<Record<string, Property>>;
}

/** Where the reference lies. */
export const settingsReferenceFile = join(projectRoot, 'docs', 'settings.md');

/** The settings reference, as Markdown, made from the manifest: it cannot disagree with it. */
export async function settingsReference(): Promise<string> {
  const manifest = await readJson<{ readonly contributes: { readonly configuration: readonly Section[] } }>('package.json');
  const strings = await readJson<Readonly<Record<string, string>>>('package.nls.json');
  const localized = (text: string) => text.replace(/^%(.+)%$/, (_, key: string) => strings[key] ?? text);
  const sections = [...manifest.contributes.configuration].sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
  return `${[
    '# Settings',
    'Made from the manifest by `npm run docs`. A value that cannot be used is named when it is read, and its default is used instead.',
    ...sections.flatMap(({ title, properties }) => [
      `## ${localized(title)}`,
      ...Object.entries(properties)
        .sort(([, a], [, b]) => (a.order ?? 0) - (b.order ?? 0))
        .map(([key, property]) => entry(key, property, localized)),
    ]),
  ].join('\n\n')}\n`;
}

function entry(key: string, property: Property, localized: (text: string) => string): string {
  const long = JSON.stringify(property.default ?? null).length > 120;
  const facts = [
    property.enum
      ? property.enum.map((value) => `\`${String(value)}\``).join(' · ')
      : [property.type]
          .flat()
          .filter((type) => type !== undefined)
          .join(' or '),
    property.minimum !== undefined || property.maximum !== undefined ? `${property.minimum ?? ''} … ${property.maximum ?? ''}` : '',
    property.default === undefined || long ? '' : `default \`${JSON.stringify(property.default)}\``,
    property.scope === 'machine'
      ? 'per machine: a workspace cannot set it'
      : property.scope === 'application'
        ? 'yours alone: a workspace cannot set it'
        : '',
  ];
  // The settings editor makes links of these by itself.
  const text = localized(property.markdownDescription ?? property.description ?? '').replace(
    /`#(threadkeeper\.[\w.]+)#`/g,
    (_, name: string) => `[\`${name}\`](#${name.toLowerCase().replaceAll('.', '')})`,
  );
  return `### \`${key}\`\n\n${facts.filter((fact) => fact !== '').join(' · ')}\n\n${text}${long ? `\n\nDefault:\n\n\`\`\`json\n${JSON.stringify(property.default, null, 2)}\n\`\`\`` : ''}`;
}

async function readJson<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(join(projectRoot, name), 'utf8')) as T;
}
