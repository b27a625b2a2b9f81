import { button, small, textarea, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { operation, read, send } from '../base/requests.ts';
import type { ApplicationCertificateList } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { typed } from '../base/typed.ts';
import { ask } from './dialog.ts';
import { controlField, textField } from './fields.ts';
import { loaded } from './loaded.ts';
import { age, card, empty, id, nothing, said } from './show.ts';
import { rowsTable } from './table.ts';

function add(applicationId: string, done: () => void): void {
  ask({
    title: `Add a certificate of ${applicationId}`,
    text: 'The application gets tokens with it from then on. Give the certificate itself, or the subject of certificates that the CA of the service signs.',
    fields: [
      textField({ name: 'name', label: 'Name', required: true, hint: 'For people, such as server 2026.' }),
      controlField('Certificate', 'In PEM', textarea({ name: 'certificate', rows: 4, spellcheck: false })),
      textField({ name: 'subject', label: 'Subject', hint: 'Such as CN=patrol,O=Acme, the most special part first.' }),
    ],
    does: 'Add',
    async act(data) {
      const [certificate, subject] = [typed(data, 'certificate'), typed(data, 'subject')];
      const json = { name: typed(data, 'name'), ...(certificate && { certificate }), ...(subject && { subject }) };
      await send(operation('addCertificate', { applicationId }), { json });
      done();
      return 'The certificate was added.';
    },
  });
}

const revoke = (applicationId: string, certificateId: string, done: () => void): void =>
  ask({
    title: `Revoke ${certificateId}?`,
    text: 'Access tokens and streams that were opened with it end at once.',
    typed: certificateId,
    does: 'Revoke',
    isBad: true,
    async act() {
      await send(operation('revokeCertificate', { applicationId, certificateId }));
      done();
      return `${certificateId} was revoked.`;
    },
  });

function Certificates({ applicationId }: { applicationId: string }) {
  const certificates = useLoad(`${applicationId} certificates`, (signal) =>
    read<ApplicationCertificateList>(operation('listCertificates', { applicationId }), { signal }),
  );
  const addButton = permits('addCertificate')
    ? button(
        { type: 'button', class: 'tiny', onClick: () => add(applicationId, certificates.again) },
        'Add a certificate',
      )
    : null;
  return card(
    { title: 'Certificates', bare: true, side: addButton },
    loaded(certificates, (value) =>
      value.certificates.length === 0
        ? empty({
            title: 'No certificates',
            text: 'With a certificate the application gets tokens that are of no use to anybody else.',
          })
        : rowsTable({
            label: 'Certificates',
            rows: value.certificates,
            keyOf: ({ certificateId }) => certificateId,
            columns: [
              {
                name: 'Certificate',
                kind: 'lead',
                cell: ({ certificateId, name }) => [id(certificateId), small(null, said(name))],
              },
              { name: 'Known by', cell: ({ kind, value: known }) => [said(known), small(null, kind)] },
              { name: 'Ends', kind: 'short', cell: ({ expiresAt }) => (expiresAt ? age(expiresAt) : nothing()) },
              {
                name: '',
                kind: 'short',
                cell: ({ certificateId }) =>
                  permits('revokeCertificate')
                    ? button(
                        {
                          type: 'button',
                          class: 'tiny bad',
                          onClick: () => revoke(applicationId, certificateId, certificates.again),
                        },
                        'Revoke',
                      )
                    : null,
              },
            ],
          }),
    ),
  );
}

/** The certificates with which an application gets its tokens. */
export const certificatesCard = (applicationId: string): VNode =>
  use(Certificates, { applicationId, key: 'certificates' });
