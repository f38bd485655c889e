import { imageTypes, mostImageBytes, type AttachSource } from '../../src/protocol/composer';
import { t } from '../../src/protocol/l10n';

/** VS Code's own list of what is dragged from the Explorer or a tab; the plain one is what other programs give. */
const uriLists = ['application/vnd.code.uri-list', 'text/uri-list'];

/** While something is dragged only its kinds are known. */
export function isDropped({ types }: DataTransfer): boolean {
  return types.some((type) => type === 'Files' || uriLists.includes(type.toLowerCase()));
}

/**
 * What was dropped or pasted. A file that comes without its place can only be an image: of others the host could not say where they lie.
 */
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

/** Pixels on the long side: larger images are scaled down by the provider anyway, and cost the time to send them. */
const longestSide = 1_568;
const qualities = [0.9, 0.75, 0.6];

/** An image as base64, made smaller where it is too large. Rejects, in words for the user, for what models do not take. */
async function prepareImage(file: File): Promise<{ readonly name: string; readonly data: string }> {
  const name = file.name === '' || file.name === 'image.png' ? t('Pasted image') : file.name;
  if (!(imageTypes as readonly string[]).includes(file.type))
    throw new Error(t('“{0}” is no image that models take: png, jpeg, webp and gif are.', name));
  let picture: ImageBitmap;
  try {
    picture = await createImageBitmap(file);
  } catch {
    throw new Error(t('The image “{0}” cannot be read: it seems to be damaged.', name));
  }
  try {
    const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height));
    const blob = scale === 1 && file.size <= mostImageBytes ? file : await smaller(picture, scale, file.type);
    if (!blob)
      throw new Error(t('The image “{0}” is too large, also after it has been made smaller. Cut out the part that matters.', name));
    return { name, data: await toBase64(blob) };
  } finally {
    picture.close();
  }
}

/** As png where that is small enough (text stays sharp), else as jpeg; null when nothing fits. */
async function smaller(picture: ImageBitmap, scale: number, type: string): Promise<Blob | null> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const encoded = (format: string, quality?: number) => new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, format, quality));
  const tries = [
    ...(type === 'image/jpeg' ? [] : [() => encoded('image/png')]),
    ...qualities.map((quality) => () => encoded('image/jpeg', quality)),
  ];
  for (const attempt of tries) {
    const blob = await attempt();
    if (blob && blob.size <= mostImageBytes) return blob;
  }
  return null;
}

function toBase64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error(t('The image cannot be read.')));
    reader.readAsDataURL(blob);
  });
}
