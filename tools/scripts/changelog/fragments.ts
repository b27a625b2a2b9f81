import { existsSync } from 'node:fs';

/** The kinds of changes, in the order of the changelog. */
const KINDS = ['Breaking', 'New', 'Mended'] as const;
const FORM = /^(Breaking|New|Mended): ((?:Operators|Applications|Devices|Testers): .+)$/;
const LINE = 120;
const OPEN = '## Unreleased\n';

/** A change that users notice, for the changelog. */
export interface Fragment {
  kind: string;
  text: string;
}

/** Reads a file of `changes/`. Throws, with what is wrong, when it has not the form of `changes/README.md`. */
export function readFragment(path: string, content: string): Fragment {
  const wrong = (what: string): Error => new Error(`${path} ${what} (changes/README.md)`);
  const [, kind, text = ''] = FORM.exec(content.trim().replaceAll('\n', ' ')) ?? [];
  if (!/^changes\/[a-z0-9-]+\.md$/.test(path)) throw wrong('has no name of small letters, digits and hyphens');
  if (kind === undefined) throw wrong('does not begin with a kind and with those who notice the change');
  const [first = '', ...others] = text.replaceAll(/`[^`]*`|\([^)]*\)/g, '').split(/(?<=[.!?])\s/);
  if (!first.endsWith('.') || others.length > 0) throw wrong('is not one sentence');
  const [, target] = /\]\(([^)#]+)/.exec(text) ?? [];
  if (target === undefined || !existsSync(target))
    throw wrong('has no link to a document, as the root of the project sees it');
  return { kind, text };
}

/** A text as an entry of a list, with lines of at most 120 characters. */
function entryOf(text: string): string {
  const lines = ['-'];
  for (const word of text.split(' '))
    if (`${lines.at(-1)} ${word}`.length <= LINE) lines.push(`${lines.pop()} ${word}`);
    else lines.push(`  ${word}`);
  return lines.join('\n');
}

/** The changelog with changes under the heading of a release: in its section "Unreleased" if it has one, or in a new one. */
export function withChanges(changelog: string, changes: readonly Fragment[], heading: string): string {
  const [head = '', ...sections] = changelog.split(/^(?=## )/m);
  const open = sections[0]?.startsWith(OPEN) ? sections.shift()!.slice(OPEN.length) : '';
  const [about = '', ...parts] = open.split(/^### /m).map((part) => part.trim());
  const written = KINDS.map((kind) => {
    const former = parts
      .find((part) => part.startsWith(`${kind}\n`))
      ?.slice(kind.length)
      .trim();
    const entries = [former ?? '', ...changes.filter((one) => one.kind === kind).map(({ text }) => entryOf(text))];
    const list = entries.filter((entry) => entry !== '').join('\n');
    return list === '' ? '' : `### ${kind}\n\n${list}`;
  });
  const texts = [head, `## ${heading}`, about, ...written, ...sections].map((text) => text.trim());
  return `${texts.filter((text) => text !== '').join('\n\n')}\n`;
}
