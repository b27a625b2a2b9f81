import type { Counted, ReportedFields } from './status-repository.ts';

/** Installed versions by package name. */
type Installed = Map<string, string>;

/** The difference between two reports of installed software. */
export interface SoftwareChange {
  gone: [name: string, was: string][];
  /** Packages that are new, or have another version; `was` is the version before. */
  set: [name: string, version: string, was: string | null][];
}

/** A member of a reported value that is an object. */
const memberOf = (reported: ReportedFields, field: string, name: string): unknown =>
  (reported[field]?.value as Record<string, unknown> | null | undefined)?.[name];

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
/** A device may report any number, and its column has 64 bits. */
const bytes = (value: unknown): number | null =>
  typeof value === 'number' ? Math.min(value, Number.MAX_SAFE_INTEGER) : null;

export function countedOf(reported: ReportedFields): Counted {
  const charging = memberOf(reported, 'battery', 'charging');
  return {
    firmware: text(reported['firmwareVersion']?.value),
    battery: number(memberOf(reported, 'battery', 'level')),
    lang: text(reported['lang']?.value)?.toLowerCase() ?? null,
    charging: typeof charging === 'boolean' ? Number(charging) : null,
    network: text(memberOf(reported, 'network', 'type')),
    storageFree: bytes(memberOf(reported, 'storage', 'free')),
  };
}

/**
 * Returns the reported values that have columns of their own for lists and selectors of devices, if one has changed;
 * otherwise undefined.
 */
export function newlyCounted(before: ReportedFields, after: ReportedFields): Counted | undefined {
  const [was, is] = [countedOf(before), countedOf(after)];
  const isSame = (Object.keys(is) as (keyof Counted)[]).every((name) => was[name] === is[name]);
  return isSame ? undefined : is;
}

/** The installed versions. If a package is named twice, the last entry counts. */
function installedOf(reported: ReportedFields): Installed {
  const listed = reported['software']?.value;
  const items = Array.isArray(listed) ? (listed as { package: string; version: string }[]) : [];
  return new Map(items.map((item) => [item.package, item.version]));
}

export function softwareChange(before: ReportedFields, after: ReportedFields): SoftwareChange {
  const [was, is] = [installedOf(before), installedOf(after)];
  return {
    gone: [...was].filter(([name]) => !is.has(name)),
    set: [...is]
      .filter(([name, version]) => was.get(name) !== version)
      .map(([name, version]) => [name, version, was.get(name) ?? null]),
  };
}
