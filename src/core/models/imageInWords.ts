import type { ModelBlock } from './modelRequest';

/** What stands in a request in an image's place for a model that sees none: it must not guess at what it was not shown. */
export function imageInWords({ name }: Pick<Extract<ModelBlock, { type: 'image' }>, 'name'>): string {
  return `[The user has attached the image "${name}". You cannot see images: say so if the answer depends on it.]`;
}
