import { useMemo } from 'preact/hooks';
import { a, span, use, type VNode } from '../base/elements.ts';
import { knownName, type NamedKind } from '../base/names.ts';
import { addressOf } from '../base/place.ts';
import { copyIcon } from './copy.ts';
import { bareId, said } from './show.ts';

/** The name of an object, or its identifier while the name is not known. */
function Named({ kind, identifier, small }: { kind: NamedKind; identifier: string; small: boolean }) {
  const name = useMemo(() => knownName(kind, identifier), [kind, identifier]).value;
  const link = a({ href: addressOf([kind, identifier]), title: identifier }, name ? said(name) : bareId(identifier));
  if (small) return span({ class: 'named' }, link);
  return span(
    { class: 'named' },
    link,
    span({ class: 'id quiet' }, name ? bareId(identifier) : null, copyIcon(identifier)),
  );
}

/** Shows an application or a developer by its name, which leads to its page, with its identifier to copy. */
export const named = (kind: NamedKind, identifier: string): VNode =>
  use(Named, { kind, identifier, small: false, key: identifier });

/** Shows the name alone, for sentences and second lines; the tooltip has the identifier. */
export const nameAlone = (kind: NamedKind, identifier: string): VNode =>
  use(Named, { kind, identifier, small: true, key: identifier });
