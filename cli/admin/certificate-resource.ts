import { column, date, flexible, type Resource } from './admin-resource.ts';

/** The certificates with which an application gets its tokens. */
export const CERTIFICATES: Resource = {
  resource: 'certificate',
  columns: [
    column('CERTIFICATE', 'certificateId'),
    column('KIND', 'kind'),
    flexible('VALUE', 'value'),
    date('ENDS (UTC)', 'expiresAt'),
    flexible('NAME', 'name'),
  ],
  verbs: [
    {
      verb: 'add',
      summary: 'Adds a certificate, or a name in certificates, with which an application gets its tokens',
      about:
        'One of --certificate, --subject, --dns and --uri is needed. A name counts in certificates of the CA only.',
      operation: 'addCertificate',
      arguments: { APPLICATION: 'applicationId' },
      fields: {
        name: { field: 'name', value: 'TEXT', text: 'a name for people' },
        certificate: {
          field: 'certificate',
          kind: 'text',
          value: 'FILE.pem',
          text: 'the certificate itself, in PEM; - reads standard input',
        },
        subject: { field: 'subject', value: 'DN', text: 'the subject of its certificates, as openssl prints it' },
        dns: { field: 'dns', value: 'HOST', text: 'a host name in the subjectAltName of its certificates' },
        uri: { field: 'uri', value: 'URI', text: 'a URI in the subjectAltName of its certificates' },
      },
      examples: [
        "lapel admin certificate add patrol --name 'server 2026' --certificate patrol.pem",
        "lapel admin certificate add patrol --name server --subject 'CN=patrol,O=Acme'",
      ],
    },
    {
      verb: 'list',
      summary: 'Lists the certificates of an application',
      operation: 'listCertificates',
      arguments: { APPLICATION: 'applicationId' },
      kind: 'list',
      list: 'certificates',
      whole: true,
      examples: ['lapel admin certificate list patrol'],
    },
    {
      verb: 'revoke',
      summary: 'Revokes a certificate of an application: its tokens end at once',
      operation: 'revokeCertificate',
      arguments: { APPLICATION: 'applicationId', CERTIFICATE: 'certificateId' },
      done: 'revoked',
      examples: ['lapel admin certificate revoke patrol 5e0c1a9a43f1b7d2'],
    },
  ],
};
