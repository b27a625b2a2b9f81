import type {
  InstallationQuery,
  LineQuery,
  PackageRow,
  PackageRowQuery,
  VersionRow,
  VersionRowQuery,
} from '@lapel/schemas/contracts/types';
import type { PackageSummary } from '../../core/software/package-repository.ts';
import { toUtc } from '../../runtime/clock.ts';
import { installationBody } from '../../views/installation-body.ts';
import type { InstallationCounts } from '../../views/installations.ts';
import type { VersionSummary } from '../../views/software.ts';
import { periodOf } from '../http/moment.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer, Input } from '../http/route.ts';
import { utcOrNull } from './fleet-devices.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<AdminServices, 'softwareOverview' | 'installations'>;

const packageRow = (row: PackageSummary): PackageRow => ({
  line: row.line,
  package: row.package,
  developerId: row.developerId,
  displayName: row.displayName,
  forAll: row.forAll,
  versions: row.versions,
  newest: row.newest,
  updatedAt: toUtc(row.updatedAt),
});

const versionRow = (row: VersionSummary, { installed, waiting, failed }: InstallationCounts): VersionRow => ({
  version: row.version,
  description: row.description,
  createdAt: toUtc(row.createdAt),
  updatedAt: toUtc(row.updatedAt),
  distributing: row.distributionStartedAt !== null,
  distributionStartedAt: utcOrNull(row.distributionStartedAt),
  binary: row.binary,
  warning: row.warning,
  devices: { installed, waiting, failed },
});

export async function listAllPackages(
  { softwareOverview }: Services,
  input: Input<unknown, unknown, PackageRowQuery>,
): Promise<Answer> {
  const { after, ...query } = input.query;
  const [line, name = ''] = after?.split(':') ?? [];
  const place = line === 'software' || line === 'firmware' ? { after: { line, package: name } as const } : {};
  const { rows: packages, next } = await softwareOverview.list({ ...query, ...place });
  const headers = next ? nextPageAfter(input, query, { after: `${next.line}:${next.package}` }) : {};
  return { status: 200, headers, body: { packages: packages.map(packageRow) } };
}

type AtPackage<Query> = Input<{ package: string }, unknown, Query>;

export async function readAnyPackage(
  { softwareOverview }: Services,
  { params, query }: AtPackage<LineQuery>,
): Promise<Answer> {
  return { status: 200, body: packageRow(await softwareOverview.find(query.line, params.package)) };
}

export async function listAnyVersions(
  { softwareOverview, installations }: Services,
  input: AtPackage<VersionRowQuery>,
): Promise<Answer> {
  const { line, ...page } = input.query;
  const name = { line, package: input.params.package };
  const { rows: versions, next } = await softwareOverview.versions(line, name.package, page);
  const names = versions.map(({ version }) => version);
  const counts = await installations.counts(name, names);
  const rows = versions.map((row, index) => versionRow(row, counts[index] as InstallationCounts));
  const headers = next === undefined ? {} : nextPageAfter(input, page, { after: next });
  return { status: 200, headers, body: { versions: rows } };
}

export async function listAnyInstallations(
  { softwareOverview, installations }: Services,
  input: Input<{ package: string; version: string }, unknown, InstallationQuery>,
): Promise<Answer> {
  const { line, since: _since, until: _until, ...page } = input.query;
  const name = { line, ...input.params };
  await softwareOverview.requireVersion(line, name.package, name.version);
  const { body, next } = await installationBody(installations, name, { ...page, ...periodOf(input.query) });
  return { status: 200, headers: next === undefined ? {} : nextPageAfter(input, page, { after: next }), body };
}
