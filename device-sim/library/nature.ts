import type { GroupSettings } from '../fleet/member.ts';
import { checkShape, type Path } from '../scenario/check-shape.ts';
import { hasBadNetworks } from '../scenario/scenario.ts';
import { understand } from '../scenario/understand.ts';
import { UsageError } from '../usage-error.ts';
import type { Nature as Given } from './public.d.ts';

/** The options that say how devices are. */
export const NATURE = [
  'firmware',
  'managementClient',
  'language',
  'storage',
  'software',
  'network',
  'clock',
  'behaviour',
  'life',
  'faults',
] as const satisfies readonly (keyof Given)[];

/** How devices are: the settings of their group, and whether their network may be bad. */
export interface Nature {
  readonly settings: GroupSettings;
  readonly badNetworks: boolean;
}

/** The path of an option: scenarios have it in their first group. */
const written = (path: Path): string =>
  path
    .slice(2)
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`))
    .join('');

/**
 * Reads how devices are. A scenario with one group says it in the same words, so its reader also finds what is wrong.
 * Throws a UsageError that names the option.
 */
export function readNature(options: Given): Nature {
  const given = Object.fromEntries(NATURE.flatMap((name) => (name in options ? [[name, options[name]]] : [])));
  const file = { name: 'library', devices: 1, groups: [{ name: 'all', ...given }], phases: [{ name: 'all' }] };
  const [fault] = checkShape(file);
  if (fault) throw new UsageError(written(fault.path), fault.text);
  const scenario = understand(file as Parameters<typeof understand>[0]);
  if (Array.isArray(scenario)) throw new UsageError(written(scenario[0]!.path), scenario[0]!.text);
  return { settings: { group: 'all', ...scenario.groups[0] }, badNetworks: hasBadNetworks(scenario) };
}
