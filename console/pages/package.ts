import { a, button, type Child, div, small, span, use, type VNode } from '../base/elements.ts';
import { bytes, count } from '../base/format.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { addressOf, place, ROLE } from '../base/place.ts';
import { operation, type Page, read, readPage, send } from '../base/requests.ts';
import type { PackageRow, VersionList, VersionRow } from '../base/rows.ts';
import { fromServiceTime } from '../base/service-time.ts';
import { mayChange } from '../base/session.ts';
import { given, typed } from '../base/typed.ts';
import { historyOf } from '../parts/changes.ts';
import { ask } from '../parts/dialog.ts';
import { textField } from '../parts/fields.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { nameAlone } from '../parts/named.ts';
import { pager } from '../parts/pager.ts';
import { age, badge, bareId, card, empty, nothing, said } from '../parts/show.ts';
import { type Column, rowsTable } from '../parts/table.ts';
import { askForFile } from '../parts/upload.ts';
import { installationsCard } from './installations.ts';
import type { Line } from './software.ts';
import { versionsAsCsv } from './versions-as-csv.ts';

interface Version {
  version: string;
  description: string | null;
  createdAt: string | null;
  updatedAt: string | null;
  distributing: boolean | null;
  distributionStartedAt: string | null;
  binary: {
    sizeBytes: number | null;
    sha256: string | null;
    foundPackage?: string | null;
    foundVersion?: string | null;
    certificates?: readonly string[];
    signature?: 'none' | 'valid' | 'unchecked' | 'invalid';
  } | null;
  warning: string | null;
  devices: { installed: number; waiting: number; failed: number } | null;
}

const LIMIT = 50;
/**
 * The most reads, and the milliseconds between them, while the page waits for the service to inspect an uploaded file.
 */
const INSPECTION_READS = 40;
const INSPECTION_PAUSE_MS = 250;

/** Reads the versions of a package as an application may. */
async function ofApplication(name: string, signal: AbortSignal): Promise<Page<Version>> {
  const offset = Number(place.value.query['after'] ?? 0);
  const { versions, total } = await read<VersionList>(operation('listVersions', { package: name }), {
    query: { offset, limit: LIMIT, details: true },
    signal,
  });
  const rows = versions.map(({ version, description, registerDate, updateDate, binary, distribution }): Version => {
    return {
      version,
      description,
      createdAt: fromServiceTime(registerDate),
      updatedAt: fromServiceTime(updateDate),
      distributing: distribution?.distributable ?? false,
      distributionStartedAt: null,
      binary: binary?.appFileExists
        ? { sizeBytes: binary.fileSize, sha256: null, certificates: binary.certificates, signature: binary.signature }
        : null,
      warning: binary?.warning ?? null,
      devices: null,
    };
  });
  return { rows, next: offset + rows.length < total ? String(offset + rows.length) : null };
}

const SIGNATURES = {
  none: null,
  valid: ['good', 'signed'],
  unchecked: ['calm', 'signature not checked yet'],
  invalid: ['bad', 'signature does not verify'],
} as const;

/** The signature of a version, and the certificates of its APK. */
function proofs(binary: Version['binary']): Child[] {
  const signature = SIGNATURES[binary?.signature ?? 'none'];
  return [
    signature === null ? null : badge(signature[0], signature[1]),
    ...(binary?.certificates ?? []).map((certificate) =>
      small(
        { class: 'num', title: `SHA-256 of the certificate: ${certificate}` },
        `certificate ${certificate.slice(0, 12)}…`,
      ),
    ),
  ];
}

interface Of {
  name: string;
  line: Line;
}

/**
 * Gets the URL to upload the file of a version to. The operator may upload only to the packages of the service itself.
 */
const whereOf = (of: Of, version: string) => async (): Promise<string> => {
  const issueUrl = {
    operator: of.line === 'firmware' ? 'issueFirmwareUrl' : 'issueSystemPackageUrl',
    application: 'issueUploadUrl',
  } as const;
  const answer = (await (await send(operation(issueUrl, { package: of.name, version }))).json()) as {
    uploadUrl?: string;
    urlList?: { uploadUrl: string }[];
  };
  const url = answer.uploadUrl ?? answer.urlList?.[0]?.uploadUrl;
  if (url === undefined) throw new Error('The service did not send an upload URL.');
  return url;
};

const nothingWrong = (): Promise<null> => Promise.resolve(null);

/**
 * Reads what the service found wrong with the file of a version; null when nothing is. The service inspects the file
 * after the first request, so the request is repeated until it has.
 */
const faultOf =
  (of: Of, version: string) =>
  async (signal: AbortSignal): Promise<string | null> => {
    for (let tries = 0; tries < INSPECTION_READS && !signal.aborted; tries += 1) {
      const { inspected, warning } = await read<{ inspected: boolean; warning: string | null }>(
        operation('readBinary', { package: of.name, version }),
        { signal },
      );
      if (inspected) return warning;
      await new Promise((resolve) => setTimeout(resolve, INSPECTION_PAUSE_MS));
    }
    return null;
  };

function addVersion({ name }: Of, done: () => void): void {
  ask({
    title: `New version of ${name}`,
    fields: [
      textField({ name: 'version', label: 'Version', required: true, hint: 'The version name in the file.' }),
      textField({ name: 'description', label: 'Description' }),
    ],
    does: 'Create',
    async act(data) {
      await send(operation('registerVersion', { package: name }), {
        json: given({ version: typed(data, 'version'), description: typed(data, 'description') }),
      });
      done();
      return `The version was created. Upload its file next.`;
    },
  });
}

const distribute = (of: Of, { version, distributing }: Version, done: () => void): void =>
  ask({
    title: distributing ? `Stop distributing ${of.name} ${version}?` : `Distribute ${of.name} ${version}?`,
    text: distributing
      ? 'No further installation can begin; running ones continue.'
      : 'The version can then be installed on the application’s devices.',
    does: distributing ? 'Stop' : 'Start distribution',
    async act() {
      const change = distributing ? 'stopDistribution' : 'startDistribution';
      await send(operation(change, { package: of.name, version }));
      done();
      return distributing ? `${of.name} ${version} is no longer distributed.` : `${of.name} ${version} is distributed.`;
    },
  });

/** Deletes a version, and its file first, because a version with a file cannot be deleted. */
const removeVersion = ({ name }: Of, { version, binary }: Version, done: () => void): void =>
  ask({
    title: `Delete ${name} ${version}?`,
    text: `${binary === null ? 'The version' : 'The version and its file'} cannot be restored. Devices that have it installed keep it.`,
    typed: version,
    does: 'Delete',
    isBad: true,
    async act() {
      if (binary !== null) await send(operation('removeBinary', { package: name, version }));
      await send(operation('removeVersion', { package: name, version }));
      done();
      return `${name} ${version} was deleted.`;
    },
  });

const removePackage = ({ name }: Of): void =>
  ask({
    title: `Delete ${name}?`,
    text: 'The package has no versions any more. Its name can be registered again.',
    does: 'Delete',
    isBad: true,
    async act(_, go) {
      await send(operation('removePackage', { package: name }));
      go(addressOf(['software']));
      return `${name} was deleted.`;
    },
  });

const devicesOf = ({ devices }: Version): Child =>
  devices === null
    ? nothing()
    : span(
        { class: 'num' },
        `${count(devices.installed)} installed`,
        devices.waiting > 0 ? small(null, `${count(devices.waiting)} waiting`) : null,
        devices.failed > 0 ? small({ class: 'fault' }, `${count(devices.failed)} failed`) : null,
      );

/** The address of the form that starts a rollout of a version. */
const rollOut = (of: Of, version: string): string =>
  addressOf(['rollouts', 'new'], { operation: 'installSoftware', package: of.name, version });

function columns(of: Of, ownIsService: boolean, done: () => void): Column<Version>[] {
  const mayUpload = mayChange('application', ownIsService ? 'issueSystemPackageUrl' : undefined);
  return [
    {
      name: 'Version',
      kind: 'lead',
      cell: ({ version, description }) =>
        div(
          null,
          a(
            { href: addressOf(['software', of.name], { line: of.line === 'firmware' ? of.line : undefined, version }) },
            bareId(version),
          ),
          description === null ? null : small(null, said(description)),
        ),
    },
    {
      name: 'Distribution',
      cell: ({ distributing, distributionStartedAt }) =>
        distributing
          ? div(
              null,
              badge('good', 'distributed'),
              distributionStartedAt ? small(null, 'since ', age(distributionStartedAt)) : null,
            )
          : badge('', 'not distributed'),
    },
    {
      name: 'Binary',
      cell: ({ binary, warning }) =>
        div(
          null,
          binary === null
            ? badge('warn', 'no file')
            : span(
                { class: 'num', ...(binary.sha256 && { title: `SHA-256 ${binary.sha256}` }) },
                binary.sizeBytes === null ? 'uploaded' : bytes(binary.sizeBytes),
              ),
          ...proofs(binary),
          warning === null ? null : small({ class: 'fault' }, said(warning)),
        ),
    },
    ...(ROLE === 'operator' ? [{ name: 'Devices', cell: devicesOf }] : []),
    { name: 'Created', kind: 'short', cell: ({ createdAt }) => age(createdAt) },
    {
      name: '',
      kind: 'short',
      cell: (row) =>
        div(
          { class: 'row' },
          mayUpload
            ? button(
                {
                  type: 'button',
                  class: 'tiny',
                  onClick: () =>
                    askForFile({
                      name: `${of.name} ${row.version}`,
                      where: whereOf(of, row.version),
                      fault: ROLE === 'application' ? faultOf(of, row.version) : nothingWrong,
                      isDistributed: row.binary !== null && row.distributing === true,
                      done,
                    }),
                },
                row.binary === null ? 'Upload' : 'Replace',
              )
            : null,
          ROLE === 'application' && mayChange('device') && row.distributing && row.binary !== null
            ? a({ class: 'button tiny', href: rollOut(of, row.version) }, 'Roll out')
            : null,
          ROLE === 'application' && mayChange('application')
            ? button(
                { type: 'button', class: 'tiny', onClick: () => distribute(of, row, done) },
                row.distributing ? 'Stop' : 'Distribute',
              )
            : null,
          ROLE === 'application' && mayChange('application') && !row.distributing
            ? button({ type: 'button', class: 'tiny bad', onClick: () => removeVersion(of, row, done) }, 'Delete')
            : null,
        ),
    },
  ];
}

function OnePackage({ of }: { of: Of }) {
  const query = { line: of.line, after: place.value.query['after'], limit: LIMIT };
  const page: Loading<Page<Version>> = useLoad(JSON.stringify([of, query]), (signal) =>
    ROLE === 'operator'
      ? readPage<VersionRow>(operation('listAnyVersions', { package: of.name }), 'versions', { query, signal })
      : ofApplication(of.name, signal),
  );
  const about = useLoad(`about ${of.line} ${of.name}`, async (signal) =>
    ROLE === 'operator'
      ? read<PackageRow>(operation('readAnyPackage', { package: of.name }), { query: { line: of.line }, signal })
      : null,
  );
  const owner = about.state.value.value?.developerId;
  const { version, after } = place.value.query;
  const isEmpty = after === undefined && page.state.value.value?.rows.length === 0;
  return [
    head({
      title: of.name,
      copied: of.name,
      trail: [[addressOf(['software']), 'Software']],
      state: of.line === 'firmware' ? badge('calm', 'firmware') : null,
      about: owner ? ['developer ', nameAlone('developers', owner)] : null,
      actions:
        ROLE === 'application' && mayChange('application')
          ? [
              button({ type: 'button', class: 'main', onClick: () => addVersion(of, page.again) }, 'New version'),
              isEmpty
                ? button({ type: 'button', class: 'bad', onClick: () => removePackage(of) }, 'Delete the package')
                : null,
            ]
          : null,
    }),
    card(
      { title: 'Versions, newest first', bare: true, side: versionsAsCsv(of) },
      loaded(page, ({ rows, next }) =>
        rows.length === 0 && next === null
          ? empty({ title: 'No versions', text: 'Register a version, then upload its file.' })
          : [
              rowsTable({
                label: 'Versions',
                columns: columns(of, owner === null, page.again),
                rows,
                keyOf: ({ version: one }) => one,
                isChosen: ({ version: one }) => one === version,
              }),
              pager(next, rows.length),
            ],
      ),
    ),
    version === undefined ? null : installationsCard(of, version),
    ROLE === 'operator' ? historyOf('package', of.name) : null,
  ];
}

export const packagePage = (name: string): VNode => {
  const line = place.value.query['line'] === 'firmware' ? 'firmware' : 'software';
  return use(OnePackage, { of: { name, line }, key: `${line} ${name}` });
};
