import type { Counted, ReportedFields } from './status-repository.ts';

/** Installed versions by package name. */
type Installed = Map<string, string>;

/** The difference between two reports of installed software. */
export interface SoftwareChange {
  gone: string[];
  /** Packages that are new, or have another version. */
  set: [name: string, version: string][];
}

export function countedOf(reported: ReportedFields): Counted {
  const firmware = reported['firmwareVersion']?.value;
  const lang = reported['lang']?.value;
  const battery = (reported['battery']?.value as { level?: unknown } | undefined)?.level;
  return {
    firmware: typeof firmware === 'string' ? firmware : null,
    battery: typeof battery === 'number' ? battery : null,
    lang: typeof lang === 'string' ? lang.toLowerCase() : null,
  };
}

/**
 * Returns the firmware version, the battery level and the language, which have columns of their own for lists of
 * devices, if one has changed; otherwise undefined.
 */
export function newlyCounted(before: ReportedFields, after: ReportedFields): Counted | undefined {
  const [was, is] = [countedOf(before), countedOf(after)];
  const isSame = was.firmware === is.firmware && was.battery === is.battery && was.lang === is.lang;
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
    gone: [...was.keys()].filter((name) => !is.has(name)),
    set: [...is].filter(([name, version]) => was.get(name) !== version),
  };
}
