import type { ApiDocument, Json } from '@lapel/schemas/contracts/api-document';

type Components = ApiDocument['components'];

const sorted = (named: Json): Json => Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)));

/**
 * Those components that parts of a document refer to, and those that these refer to, each section sorted by name. Security
 * schemes have only their names at the operations, so all are kept.
 */
export function neededComponents(parts: unknown, components: Components): Components {
  const { securitySchemes = {} } = components;
  const needed: Components = { securitySchemes };
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      const [, section = '', name = ''] =
        key === '$ref' ? (/^#\/components\/([^/]+)\/(.+)$/.exec(String(value)) ?? []) : [];
      if (section === '') {
        visit(value);
        continue;
      }
      needed[section] ??= {};
      if (Object.hasOwn(needed[section], name)) continue;
      const component = components[section]?.[name];
      needed[section][name] = component;
      visit(component);
    }
  };
  visit(parts);
  return Object.fromEntries(Object.entries(needed).map(([section, named]) => [section, sorted(named)]));
}
