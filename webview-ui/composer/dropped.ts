import type { AttachSource } from '../../src/protocol/composer';
import { t } from '../../src/protocol/l10n';
import { prepareImage } from './prepareImage';

/** VS Code's own list of what is dragged from the Explorer or a tab; the plain one is what other programs give. */
const uriLists = ['application/vnd.code.uri-list', 'text/uri-list'];

/** While something is dragged only its kinds are known. */
export function isDropped({ types }: DataTransfer): boolean {
  return types.some((type) => type === 'Files' || uriLists.includes(type.toLowerCase()));
}

/** What was dropped or pasted. A file that comes without its place can only be an image: of others the host could not say where they lie. */
export function sourcesOf(data: DataTransfer): (AttachSource | Promise<AttachSource>)[] {
  const uris = uriLists.map((type) => data.getData(type)).find((list) => list !== '');
  if (uris !== undefined) {
    return uris
      .split(/\r?\n/)
      .filter((uri) => uri !== '' && !uri.startsWith('#'))
      .map((uri) => ({ kind: 'uri', uri }));
  }
  return [...data.files].map(async (file) => {
    if (!file.type.startsWith('image/'))
      throw new Error(
        t('“{0}” comes from outside of this workspace and is not attached. Copy it into the workspace, or paste its text.', file.name),
      );
    return { kind: 'image' as const, ...(await prepareImage(file)) };
  });
}
