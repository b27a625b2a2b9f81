import { FILE_OPERATIONS, traitOf } from '../faults/fault.ts';
import type { Fault, Path } from './check-shape.ts';
import type * as file from './scenario-file.ts';
import { suggestName } from './suggest-name.ts';

const isZone = (timeZone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
};

/** An item of a list in the file, with its path. */
interface Placed<Item> {
  readonly item: Item;
  readonly path: Path;
}
const placed = <Item>(items: readonly Item[] | undefined, path: Path): Placed<Item>[] =>
  (items ?? []).map((item, place) => ({ item, path: [...path, place] }));

/** The faults of a rule that can never happen. */
function faultsOfRule({ item: rule, path }: Placed<file.Fault>, installed: ReadonlySet<string> | null): Fault[] {
  const { occasion, files = false, operations: possible } = traitOf(rule.fault);
  const { operations, versions = [] } = rule;
  const needed = files || occasion === 'download' ? FILE_OPERATIONS : possible;
  const isPointless = needed && operations && !operations.some((name) => needed.includes(name));
  const unknown = versions.flatMap((version, place): Fault[] =>
    installed === null || installed.has(version)
      ? []
      : [
          {
            path: [...path, 'versions', place],
            text: `nothing in this scenario installs version "${version}"${installed.size > 0 ? `; ${suggestName(version, [...installed])}` : ''}`,
          },
        ],
  );
  if (!isPointless) return unknown;
  const text = `${rule.fault} can happen at ${needed.join(' and ')} only, and none of these operations ${needed === possible ? 'is that' : 'downloads a file'}`;
  return [{ path: [...path, 'operations'], text }, ...unknown];
}

/** The terms of a selector that no device of the scenario can match. */
function faultsOfTags({ item: { devices }, path }: Placed<file.Action>, groups: readonly file.Group[]): Fault[] {
  const { tags = {} } = (devices ?? {}) as { tags?: Readonly<Record<string, string | readonly string[] | null>> };
  return Object.entries(tags).flatMap(([key, wanted]): Fault[] => {
    const known = groups.flatMap(({ deviceTags = {} }) => deviceTags[key] ?? []);
    const values = wanted === null ? [] : [wanted].flat();
    if (wanted === null || values.some((value) => known.includes(value))) return [];
    const text =
      known.length === 0
        ? `no group has a tag "${key}" in its deviceTags`
        : `no group has the tag ${key}=${values.join(' or ')}; ${suggestName(values[0] ?? '', known)}`;
    return [{ path: [...path, 'devices', 'tags', key], text }];
  });
}

/** An access point that its devices share although it has no limit that they could notice. */
function faultsOfSharing(
  { item: { name, tags = [], network }, path }: Placed<file.Group>,
  phases: readonly file.Phase[],
): Fault[] {
  if (typeof network !== 'object' || !network.shared) return [];
  const { away, bandwidth, losses, profile = 'good' } = network;
  const isInPhase = phases.some((phase) =>
    phase.network?.some(({ groups }) => !groups || [name, ...tags].some((one) => groups.includes(one))),
  );
  if (away !== undefined || bandwidth !== undefined || losses !== undefined || profile !== 'good' || isInPhase)
    return [];
  return [
    {
      path: [...path, 'network', 'shared'],
      text: 'changes nothing without away, bandwidth, losses, or a network of a phase for this group',
    },
  ];
}

/**
 * Finds the parts of a scenario that test nothing, because they can never happen: a fault of a version that nothing installs,
 * or of downloads at operations without a file; a tag that no group has; an access point without limits; a time zone or a file that does not exist. `exists`
 * says whether there is a file of this name.
 */
export function pointlessIn(given: file.ScenarioFile, exists: (name: string) => boolean): Fault[] {
  const { groups = [], phases, activate = true } = given;
  const inPhases = placed(phases, ['phases']);
  const actions = inPhases.flatMap(({ item, path }) => placed(item.actions, [...path, 'actions']));
  // Without a customer of its own another program installs software, and nobody knows which.
  const installed = activate ? new Set(actions.flatMap(({ item: { release } }) => release?.version ?? [])) : null;
  const rules = [
    ...placed(groups, ['groups']).flatMap(({ item, path }) => placed(item.faults, [...path, 'faults'])),
    ...inPhases.flatMap(({ item, path }) => placed<file.Fault>(item.faults, [...path, 'faults'])),
  ];
  return [
    ...placed(groups, ['groups']).flatMap((group) => faultsOfSharing(group, phases)),
    ...rules.flatMap((rule) => faultsOfRule(rule, installed)),
    ...actions.flatMap((action) => faultsOfTags(action, groups)),
    ...actions.flatMap(({ item: { window }, path }): Fault[] => {
      const { timeZone } = window ?? {};
      if (timeZone === undefined || isZone(timeZone)) return [];
      const text = `there is no time zone "${timeZone}"; ${suggestName(timeZone, Intl.supportedValuesOf('timeZone'))}`;
      return [{ path: [...path, 'window', 'timeZone'], text }];
    }),
    ...actions.flatMap(({ item: { release }, path }): Fault[] =>
      release?.file === undefined || exists(release.file)
        ? []
        : [{ path: [...path, 'release', 'file'], text: `there is no file "${release.file}"` }],
    ),
  ];
}
