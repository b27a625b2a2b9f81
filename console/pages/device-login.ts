import { type Child, div, dl, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { DeviceAnswer } from '../base/rows.ts';
import { loaded } from '../parts/loaded.ts';
import { card, fact, id, idLink, until } from '../parts/show.ts';

type Issued = NonNullable<DeviceAnswer['issuedCertificate']>;

/** A certificate that the service has signed, with its CA, whose page is that of the developer's enrolment. */
const issued = ({ fingerprint, authorityId, expiresAt }: Issued, developerId: string): VNode =>
  div(
    null,
    div(null, 'ends ', until(expiresAt)),
    div(null, 'CA ', idLink(addressOf(['developers', developerId, 'enrolment']), authorityId)),
    div(null, 'SHA-256 ', id(fingerprint)),
  );

/** The certificates of the operator's own client CA with which the device may log in. */
function othersOf({ certificates, clientCa, certificateFingerprint }: DeviceAnswer): Child {
  if (!clientCa && certificates !== 'named') return 'none: no client CA is set';
  if (certificates === 'any') return 'any of the client CA that names the device';
  return certificateFingerprint === null
    ? 'none of the client CA'
    : div(null, 'only SHA-256 ', id(certificateFingerprint));
}

interface OfDevice {
  deviceId: string;
  /** A new login may have put an offered credential or certificate in the place of the former one. */
  connected: boolean | undefined;
}

function Login({ deviceId, connected }: OfDevice) {
  const device = useLoad(
    `${deviceId} login ${connected}`,
    (signal) => read<DeviceAnswer>(operation('readDevice', { deviceId }), { signal }),
    { every: 15_000 },
  );
  return card(
    { title: 'Login', bare: true },
    loaded(
      device,
      (value) =>
        dl(
          { class: 'facts' },
          value.credentialOfferedAt === null
            ? null
            : fact('New credential', 'was offered; the device has not logged in with it yet'),
          fact(
            'Certificate',
            value.issuedCertificate ? issued(value.issuedCertificate, value.developerId) : 'none of the service',
          ),
          value.offeredCertificate
            ? fact('Renewed, not used yet', issued(value.offeredCertificate, value.developerId))
            : null,
          fact('Other certificates', othersOf(value)),
        ),
      { lines: 2 },
    ),
  );
}

export const deviceLogin = (of: OfDevice): VNode => use(Login, { ...of, key: of.deviceId });
