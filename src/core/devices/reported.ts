import type { Counted, ReportedFields } from './status-repository.ts';

/** Package name -> version. */
type Installed = Map<string, string>;

/** What is installed otherwise than before. */
export interface SoftwareChange {
  gone: string[];
  /** New, or of another version. */
  set: [name: string, version: string][];
}

function countedOf(reported: ReportedFields): Counted {
  const firmware = reported['firmwareVersion']?.value;
  const battery = (reported['battery']?.value as { level?: unknown } | undefined)?.level;
  return {
    firmware: typeof firmware === 'string' ? firmware : null,
    battery: typeof battery === 'number' ? battery : null,
  };
}

/** What the device is counted by now; undefined when that is as it was. */
export function newlyCounted(before: ReportedFields, after: ReportedFields): Counted | undefined {
  const [was, is] = [countedOf(before), countedOf(after)];
  return was.firmware === is.firmware && was.battery === is.battery ? undefined : is;
}

/** Of a package that is named twice the last counts. */
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
