/** Text that is already HTML, and is inserted without escaping. */
export interface Html {
  html: string;
}
type Part = Html | string | number | null | Part[];

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function written(part: Part): string {
  if (part === null) return '';
  if (Array.isArray(part)) return part.map(written).join('');
  if (typeof part === 'object') return part.html;
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** A template of HTML. Values in it are escaped, unless they are themselves results of such a template. */
export const html = (texts: TemplateStringsArray, ...parts: Part[]): Html => ({
  html: texts.map((text, index) => text + written(parts[index] ?? null)).join(''),
});

/** Converts the notation of our documents: text between backticks becomes `code`, an empty line a paragraph. */
export const prose = (text: string): Html => ({
  html: written(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\n{2,}/g, '</p><p>'),
});
