/**
 * Tokens of an image: (width × height) / 750 after it has been scaled down to 1,568 px on the long side, and at most about 1,600
 * (Anthropic, "Vision: calculate image costs"). What other providers charge differs; their first answer corrects the sum.
 */
export function imageTokens({ width, height }: { readonly width: number; readonly height: number }): number {
  const scale = Math.min(1, longestSide / Math.max(width, height, 1));
  return Math.min(most, Math.max(1, Math.ceil((width * scale * height * scale) / pixelsPerToken)));
}

/** Pixels. A larger image costs time and says nothing more. */
const longestSide = 1_568;
const pixelsPerToken = 750;
const most = 1_600;
