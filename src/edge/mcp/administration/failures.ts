import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { momentOf, time } from '../times.ts';
import { SINCE, TEXT, tool, UNTIL } from '../tool.ts';
import { code } from '../tools/command-words.ts';

interface Given {
  since?: string;
  until?: string;
  applicationId?: string;
  package?: string;
  version?: string;
}

export const failures = tool<Given>({
  name: 'failures',
  title: 'What failed?',
  description:
    'What failed since when, over all customers? Counts failed commands and installations by version and error code, against the period before; narrow it by application, package or version.',
  properties: {
    since: { ...SINCE, description: `${String(SINCE['description'])} By default 24h.` },
    until: UNTIL,
    applicationId: TEXT('Only of this application.', 128),
    package: TEXT('Only installations of this package.'),
    version: TEXT('Only this version; needs package.', 128),
  },
  async run(session, { since = '24h', until, ...filter }, report) {
    const now = session.now();
    const query = { ...filter, since: momentOf(since, now), until: momentOf(until, now, 'until') };
    const found = await session.ask<SchemaTypes['admin/failure-breakdown']>('readFailures', { query });
    const { total } = found;
    report.say(
      `${total.failed} of ${total.finished} commands failed from ${time(found.since)} to ${time(found.until)}; in the period before ${total.failedBefore} of ${total.finishedBefore}.`,
      'By error code:',
    );
    for (const one of found.errors) report.row(`- ${one.failed} x ${code(one.code)}, before ${one.failedBefore}`);
    report.say('By version:');
    for (const one of found.versions) {
      report.row(
        `- ${data(`${one.package} ${one.version}`, 120)}: ${one.failed} of ${one.finished} failed, before ${one.failedBefore} of ${one.finishedBefore}`,
      );
    }
    report.say(`Console: ${session.link('failures')}`);
  },
});
