import { parse, type Token } from 'acorn';

/** Characters beside which no space is needed, whatever the other neighbour is. */
const NEEDS_NO_SPACE = new Set(',;(){}[]:=?');

/**
 * Removes comments and spaces between the tokens of a module. A line feed stays a line feed, because it may end a
 * statement. `keepsHead`: a comment at the beginning stays, because it may be a licence.
 */
export function compact(text: string, { keepsHead }: { keepsHead: boolean }): string {
  const tokens: Token[] = [];
  parse(text, { ecmaVersion: 'latest', sourceType: 'module', onToken: tokens });
  let result = keepsHead ? text.slice(0, tokens[0]?.start ?? 0) : '';
  for (const [index, { start, end }] of tokens.entries()) {
    const before = tokens[index - 1];
    if (before && start > before.end) {
      const gap = text.slice(before.end, start);
      const isTight = NEEDS_NO_SPACE.has(text[before.end - 1]!) || NEEDS_NO_SPACE.has(text[start]!);
      result += gap.includes('\n') ? '\n' : isTight ? '' : ' ';
    }
    result += text.slice(start, end);
  }
  return result;
}
