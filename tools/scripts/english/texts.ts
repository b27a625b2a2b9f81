import { stripTypeScriptTypes } from 'node:module';
import { type Token, tokenizer } from 'acorn';

export interface Text {
  line: number;
  text: string;
}

/** A text for people: it has some words. Names, paths and statements of SQL do not count. */
const isProse = (text: string): boolean =>
  /[a-z]+ [a-z]+ [a-z]+/i.test(text) && !/^\s*(?:SELECT|UPDATE|INSERT|DELETE|WITH)\b/.test(text);

const bare = (comment: string): string =>
  comment
    .replace(/^\/\*\*?|\*\/$|^\/\//g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\*|\/\/) ?/, ''))
    .join(' ')
    .trim();

/** Comments of several lines that stand alone, then those that share a line with code. */
const COMMENTS = /\/\*\*?[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+|[ \t]\/\/ .*$/gm;

/** The comments and the texts of a module. Comments of several lines are joined. */
export function textsOfModule(source: string): Text[] {
  const lineAt = (position: number): number => source.slice(0, position).split('\n').length;
  const found: Text[] = [];
  for (const { 0: comment, index } of source.matchAll(COMMENTS))
    found.push({ line: lineAt(index + comment.length - comment.trimStart().length), text: bare(comment.trim()) });
  // Types are replaced by blanks, so positions stay.
  const code = stripTypeScriptTypes(source);
  const options = { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true } as const;
  for (const { type, value, start } of tokenizer(code, options) as Iterable<Token & { value?: unknown }>)
    if ((type.label === 'string' || type.label === 'template') && typeof value === 'string' && isProse(value))
      found.push({ line: lineAt(start), text: value });
  return found;
}

/** The prose of a document, by paragraph: no code, and no line of a table is joined with another. */
export function textsOfDocument(source: string): Text[] {
  const found: Text[] = [];
  let isCode = false;
  let paragraph: Text | undefined;
  for (const [index, line] of source.split('\n').entries()) {
    if (/^ *```/.test(line)) isCode = !isCode;
    const text = line.replace(/^\s*(?:[-*]|\d+\.|#+|\|)\s+/, '').trim();
    if (isCode || line.trim() === '') paragraph = undefined;
    else if (paragraph && !/^\s*(?:[-*]|\d+\.|#+|\|)\s/.test(line)) paragraph.text += ` ${text}`;
    else {
      paragraph = { line: index + 1, text };
      found.push(paragraph);
    }
  }
  return found;
}
