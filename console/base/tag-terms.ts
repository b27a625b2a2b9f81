/** Whether a text begins as a term of tags does: `key=` or `!key`. */
const begins = (text: string): boolean => /^(?:!|[a-z][a-z0-9_.-]*=)/.test(text);

/**
 * Splits `site=osaka, ring=canary, !old` into its terms. A comma that no term follows belongs to the value before it, so
 * `note=a, b` is one term.
 */
export function termsOf(text: string): string[] {
  const terms: string[][] = [];
  for (const piece of text.split(',')) {
    const last = terms.at(-1);
    if (last && !begins(piece.trimStart())) last.push(piece);
    else if (piece.trim() !== '') terms.push([piece]);
  }
  return terms.map((pieces) => pieces.join(',').trim());
}
