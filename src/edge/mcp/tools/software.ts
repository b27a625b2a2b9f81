import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import type { Report } from '../report.ts';
import type { Session } from '../session.ts';
import { time } from '../times.ts';
import { TEXT, tool } from '../tool.ts';
import { code } from './command-words.ts';

interface Given {
  package?: string;
  version?: string;
}

async function showVersion(
  session: Session,
  params: { package: string; version: string },
  report: Report,
): Promise<void> {
  const binary = await session.ask<SchemaTypes['rest/binary-status']>('readBinary', { params });
  const { distributable } = await session.ask<SchemaTypes['rest/distribution-status']>('readDistribution', { params });
  const found = await session.ask<SchemaTypes['common/installations']>('listInstallations', {
    params,
    query: { limit: 30 },
  });
  report.say(
    `${data(params.package, 100)} ${data(params.version, 60)}: its distribution is ${distributable ? 'started' : 'not started or stopped'}.`,
    binary.appFileExists
      ? `Binary: ${binary.fileSize ?? 'unknown'} bytes, uploaded ${time(binary.uploadDate, session.zone)}, signature ${binary.signature}${binary.warning === null ? '' : `, warning ${data(binary.warning)}`}.`
      : 'It has no binary: nothing was uploaded.',
    `Installed on ${found.installed} devices, waiting on ${found.waiting}, failed on ${found.failed}.`,
    ...found.errors.slice(0, 10).map((error) => `- ${error.devices} failed with ${code(error.code)}`),
    `Console: ${session.link('software', params.package)}`,
  );
  for (const { deviceId, state, errorCode, since } of found.devices) {
    const why = errorCode === null ? '' : ` ${code(errorCode)}`;
    if (!report.row(`- ${deviceId} ${state}${why} since ${time(since)}`)) break;
  }
}

export const software = tool<Given>({
  name: 'software',
  title: 'Packages, versions and where they are installed',
  description:
    'List the packages and their versions; is a version uploaded, signed and distributed, on how many devices is it installed, waiting or failed, and with which error code? Without package: all packages; with package: its versions; with version: its installations.',
  properties: { package: TEXT('Package.'), version: TEXT('Version; needs package.', 128) },
  async run(session, { package: name, version }, report) {
    if (name !== undefined && version !== undefined) {
      await showVersion(session, { package: name, version }, report);
    } else if (name !== undefined) {
      const { versions, total } = await session.ask<SchemaTypes['rest/version-list']>('listVersions', {
        params: { package: name },
        query: { limit: 25, details: 'true' },
      });
      report.say(`${data(name, 100)} has ${total} versions, the newest first:`);
      for (const one of versions) {
        const { binary, distribution } = one;
        const told = `- ${data(one.version, 60)}: ${binary?.appFileExists ? 'uploaded' : 'no binary'}, ${distribution?.distributable ? 'distributed' : 'not distributed'}, registered ${time(one.registerDate, session.zone)}, ${data(one.description, 80)}`;
        if (!report.row(told)) break;
      }
    } else {
      const { packages, total } = await session.ask<SchemaTypes['rest/package-list']>('listPackages', {
        query: { limit: 40 },
      });
      report.say(`${total} packages:`);
      for (const one of packages) if (!report.row(`- ${data(one.package, 100)} ${data(one.displayName, 60)}`)) break;
    }
  },
});
