import { imageTypes, mostImageBytes } from '../../src/protocol/composer';
import { t } from '../../src/protocol/l10n';

/** Pixels on the long side: larger images are scaled down by the provider anyway, and cost the time to send them. */
const longestSide = 1_568;
const qualities = [0.9, 0.75, 0.6];

/** An image as base64, made smaller where it is too large. Rejects, in words for the user, for what models do not take. */
export async function prepareImage(file: File): Promise<{ readonly name: string; readonly data: string }> {
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
