import type { Token, Tokens } from 'marked';
import type { ApiDocument } from '../../../platform/contracts/api-document.ts';
import { operationsOf } from '../reference/operation.ts';
import { readGuide } from './guide-page.ts';
import type { Links } from './links.ts';
import { anchorOf, plainText, tokensOf } from './markdown.ts';
import { GUIDES, pageOfTag } from './places.ts';

/** A place that the search can find: its title, the page that it is on, its address, and its text. */
type Entry = readonly [title: string, page: string, address: string, text: string];

/** The characters of a section that are searched. */
const MOST_TEXT = 4000;

const textOf = (token: Token): string => {
  const { type, tokens, items, header, rows, text } = token as Tokens.Generic;
  if (type === 'code') return text;
  if (type === 'table') {
    const cells = [header as Tokens.TableCell[], ...(rows as Tokens.TableCell[][])].flat();
    return cells.map((cell) => plainText(cell.tokens)).join(' ');
  }
  if (type === 'list') return (items as Token[]).map((item) => plainText((item as Tokens.Generic).tokens)).join(' ');
  return plainText(tokens);
};

/** The rows of tables that have an anchor of their own, such as codes of errors. */
function rowEntries(token: Token, page: string, address: string): Entry[] {
  if (token.type !== 'table') return [];
  return (token as Tokens.Table).rows.flatMap((row) => {
    const [, id] = /^<a id="([\w-]+)">/.exec(row[0]?.text ?? '') ?? [];
    const [title = '', ...cells] = row.map((cell) => plainText(cell.tokens));
    return id === undefined ? [] : [[title.trim(), page, `${address}#${id}`, cells.join(' ')] as const];
  });
}

/** The sections of a document, and the rows of its tables that can be linked to. */
function guideEntries(text: string, page: string, address: string): Entry[] {
  const sections: { title: string; anchor: string; texts: string[] }[] = [];
  const rows: Entry[] = [];
  for (const token of tokensOf(text)) {
    if (token.type === 'heading') {
      const title = plainText(token.tokens);
      sections.push({ title, anchor: (token as Tokens.Heading).depth === 1 ? '' : `#${anchorOf(title)}`, texts: [] });
    } else {
      sections.at(-1)?.texts.push(textOf(token));
      rows.push(...rowEntries(token, page, address));
    }
  }
  const whole = sections.map(
    ({ title, anchor, texts }): Entry => [
      title,
      page,
      address + anchor,
      texts.join(' ').replaceAll(/\s+/g, ' ').slice(0, MOST_TEXT),
    ],
  );
  return [...whole, ...rows];
}

interface Described {
  title?: string;
  description?: string;
}

/** The messages of devices and the webhooks. */
function messageEntries(asyncApi: ApiDocument, links: Links): Entry[] {
  const { messages, schemas } = asyncApi.components as {
    messages: Record<string, { payload: { schema: { $ref: string } } }>;
    schemas: Record<string, Described>;
  };
  return Object.entries(messages).map(([name, { payload }]) => {
    const { title = name, description = '' } = schemas[payload.schema.$ref.split('/').at(-1)!] ?? {};
    return [title, 'Devices and webhooks', `${links.page('events')}#${name}`, `${name} ${description}`];
  });
}

/**
 * The script with the index of the search, which a page loads when its search is used. It is a script, because a page of
 * a folder may not fetch files.
 */
export async function searchIndex(openApi: ApiDocument, asyncApi: ApiDocument, links: Links): Promise<string> {
  const operations = operationsOf(openApi).map(
    ({ id, method, path, tag, summary, description }): Entry => [
      summary,
      tag,
      `${links.page(pageOfTag(tag))}#${id}`,
      `${id} ${method} ${path} ${description}`,
    ],
  );
  const guides = await Promise.all(
    GUIDES.map(async ({ name, file, title }) => guideEntries(await readGuide(file), title, links.page(name))),
  );
  const entries = [...guides.flat(), ...operations, ...messageEntries(asyncApi, links)];
  return `globalThis.lapelIndex = ${JSON.stringify(entries)};\n`;
}
