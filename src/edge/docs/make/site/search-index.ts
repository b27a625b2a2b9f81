import type { ApiDocument } from '@lapel/schemas/contracts/api-document';
import type { Token, Tokens } from 'marked';
import { anchorOf } from '../../names.ts';
import { SLOTS } from '../../slots.ts';
import { operationsOf } from '../reference/operation.ts';
import { readGuide } from './guide-page.ts';
import { plainText, tokensOf } from './markdown.ts';
import { type GUIDES, pageOfTag, SECTIONS } from './places.ts';

/**
 * A place that the search can find: its title, the page that it is on, its address, its text, further names by which it
 * is found as by its title, and its rank.
 */
type Entry = readonly [title: string, page: string, address: string, text: string, names: string, rank: number];

// Among places that fit equally well, the one with the higher rank comes first. Sections of documents have the rank of
// their part of the site.
const RANK = { wholeDocument: 10, reference: 10, row: 0 };

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

type Guide = (typeof GUIDES)[number];

/** The rows of tables that have an anchor of their own, such as codes of errors. */
function rowEntries(token: Token, { title: page }: Guide, address: string): Entry[] {
  if (token.type !== 'table') return [];
  return (token as Tokens.Table).rows.flatMap((row) => {
    const [, id] = /^<a id="([\w-]+)">/.exec(row[0]?.text ?? '') ?? [];
    const [title = '', ...cells] = row.map((cell) => plainText(cell.tokens));
    return id === undefined ? [] : [[title.trim(), page, `${address}#${id}`, cells.join(' '), '', RANK.row] as const];
  });
}

/** The sections of a document, and the rows of its tables that can be linked to. */
async function guideEntries(guide: Guide, rank: number): Promise<Entry[]> {
  const { name, file, title: page, about } = guide;
  const address = SLOTS.page(name);
  const sections: { title: string; isWhole: boolean; texts: string[] }[] = [];
  const rows: Entry[] = [];
  for (const token of tokensOf(await readGuide(file))) {
    if (token.type === 'heading') {
      const isWhole = (token as Tokens.Heading).depth === 1;
      sections.push({ title: plainText(token.tokens), isWhole, texts: isWhole ? [about] : [] });
    } else {
      sections.at(-1)?.texts.push(textOf(token));
      rows.push(...rowEntries(token, guide, address));
    }
  }
  const whole = sections.map(({ title, isWhole, texts }): Entry => {
    const text = texts.join(' ').replaceAll(/\s+/g, ' ');
    return isWhole
      ? [title, page, address, text, `${page} ${name}`, rank + RANK.wholeDocument]
      : [title, page, `${address}#${anchorOf(title)}`, text, '', rank];
  });
  return [...whole, ...rows];
}

interface Described {
  title?: string;
  description?: string;
}

/** The messages of devices and the webhooks. */
function messageEntries(asyncApi: ApiDocument): Entry[] {
  const { messages, schemas } = asyncApi.components as {
    messages: Record<string, { payload: { schema: { $ref: string } } }>;
    schemas: Record<string, Described>;
  };
  return Object.entries(messages).map(([name, { payload }]) => {
    const { title = name, description = '' } = schemas[payload.schema.$ref.split('/').at(-1)!] ?? {};
    return [title, 'Devices and webhooks', `${SLOTS.page('events')}#${name}`, description, name, RANK.reference];
  });
}

/**
 * The script with the index of the search, which a page loads when its search is used. It is a script, because a page of
 * a folder may not fetch files.
 */
export async function searchIndex(openApi: ApiDocument, asyncApi: ApiDocument): Promise<string> {
  const operations = operationsOf(openApi).map(
    ({ id, method, path, tag, summary, description }): Entry => [
      summary,
      tag,
      `${SLOTS.page(pageOfTag(tag))}#${id}`,
      `${method} ${path} ${description}`,
      id,
      RANK.reference,
    ],
  );
  const guides = await Promise.all(
    SECTIONS.flatMap(({ guides: all, rank }) => all.map((guide) => guideEntries(guide, rank))),
  );
  const entries = [...guides.flat(), ...operations, ...messageEntries(asyncApi)];
  return `globalThis.lapelIndex = ${JSON.stringify(entries)};\n`;
}
