import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { YamlPath } from '@lapel/schemas/base/yaml-place';

/** The largest file that a reference may name, in bytes. */
const LARGEST = 65_536;
/** A text of fewer characters than this is not hidden in other texts, because it would be part of many words. */
const SHORTEST_HIDDEN = 4;

type Refuse = (path: YamlPath, text: string) => void;

/** The references of a configuration, and the texts that they stand for, which nothing may print. */
export interface References {
  /** Puts the texts in the place of the references of a value. A reference that leads nowhere is refused. */
  resolve(value: unknown, file: string, refuse: Refuse): unknown;
  /** Puts the references in the place of their texts, wherever a text names one. */
  hide(text: string): string;
}

/**
 * Puts other texts in the place of the references of a text. `$${` is no reference, and becomes `${`. A scanner, because
 * a regular expression would look at some texts more than once.
 */
function replaceReferences(text: string, replace: (reference: string, name: string) => string): string {
  let made = '';
  let from = 0;
  for (let at = text.indexOf('${'); at !== -1; at = text.indexOf('${', from)) {
    if (at > from && text[at - 1] === '$') {
      made += `${text.slice(from, at - 1)}\${`;
      from = at + 2;
      continue;
    }
    const end = text.indexOf('}', at);
    const after = end === -1 ? text.length : end + 1;
    made += text.slice(from, at) + replace(text.slice(at, after), text.slice(at + 2, end === -1 ? after : end));
    from = after;
  }
  return made + text.slice(from);
}

/** Whether a text has a reference. */
export function hasReference(text: string): boolean {
  let found = false;
  replaceReferences(text, (reference) => {
    found = true;
    return reference;
  });
  return found;
}

export function createReferences(env: Readonly<Record<string, string | undefined>>): References {
  const texts = new Map<string, string>();

  function lookUp(name: string, file: string): string {
    const [kind, rest] = [name.split(':', 1)[0], name.slice(name.indexOf(':') + 1)];
    if ((kind !== 'env' && kind !== 'file') || !name.includes(':') || rest === '')
      throw new Error(`\${${name}} is no reference; write \${env:NAME}, \${file:PATH} or $\${`);
    if (kind === 'env') {
      const text = env[rest];
      if (text === undefined || text === '') throw new Error(`the environment has no ${rest}`);
      return text;
    }
    const path = resolve(dirname(file), rest);
    const stats = statSync(path);
    if (!stats.isFile()) throw new Error(`${rest} is not a file`); // a device or a pipe may have no end
    if (stats.size > LARGEST) throw new Error(`${rest} has more than ${LARGEST} bytes`);
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  }

  const inText = (text: string, file: string, fault: (words: string) => void): string =>
    replaceReferences(text, (reference, name) => {
      try {
        const found = lookUp(name, file);
        texts.set(found, reference);
        return found;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        fault(code === 'ENOENT' ? `there is no file for ${reference}` : message);
        return reference;
      }
    });

  function walk(value: unknown, path: YamlPath, at: { file: string; refuse: Refuse }): unknown {
    if (typeof value === 'string') return inText(value, at.file, (words) => at.refuse(path, words));
    if (Array.isArray(value)) return value.map((one, index) => walk(one, [...path, index], at));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, [...path, key], at)]));
  }

  return {
    resolve: (value, file, refuse) => walk(value, [], { file, refuse }),
    hide(text) {
      const found = [...texts].filter(([one]) => one.length >= SHORTEST_HIDDEN).sort(([a], [b]) => b.length - a.length);
      let hidden = text;
      for (const [one, reference] of found) {
        // In JSON, and where a text is shown on one line, a secret can be written in another form.
        for (const form of new Set([one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one)]))
          hidden = hidden.replaceAll(form, reference);
      }
      return hidden;
    },
  };
}
