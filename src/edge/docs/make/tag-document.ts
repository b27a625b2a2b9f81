import type { ApiDocument, Json } from '@lapel/schemas/contracts/api-document';
import { neededComponents } from './needed-components.ts';

type Item = Record<string, Json>;

const isOperation = (part: Json): boolean => 'operationId' in part;

/** Those operations of some paths or webhooks that have a tag, without their examples of code. */
function operationsWith(tag: string, paths: unknown): Record<string, Item> {
  const belongs = (part: Json): boolean => !isOperation(part) || (part['tags'] as string[]).includes(tag);
  const short = (part: Json): Json => {
    const { 'x-codeSamples': _, ...operation } = part;
    return operation;
  };
  const chosen = Object.entries(paths as Record<string, Item>).map(([path, item]) => {
    // Beside its operations a path may have parameters that they share.
    const parts = Object.entries(item).filter(([, part]) => belongs(part));
    return [
      path,
      Object.fromEntries(parts.map(([name, part]) => [name, isOperation(part) ? short(part) : part])),
    ] as const;
  });
  return Object.fromEntries(chosen.filter(([, item]) => Object.values(item).some(isOperation)));
}

/**
 * The part of the OpenAPI document for one tag, complete in itself: for readers to whom the whole document is too long, such
 * as language models. It has no examples of code, which are on the page of the tag.
 */
export function documentOfTag({ components, tags, webhooks, ...rest }: ApiDocument, tag: string): ApiDocument {
  const own = {
    tags: (tags as { name: string }[]).filter(({ name }) => name === tag),
    paths: operationsWith(tag, rest['paths']),
    webhooks: operationsWith(tag, webhooks),
  };
  return { ...rest, ...own, components: neededComponents(own, components) } as ApiDocument;
}
