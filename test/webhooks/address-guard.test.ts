import t from 'tap';
import { refusedAddress, refusedHost } from '../../src/core/webhooks/http/address-guard.ts';

const REFUSED = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', 'fc00::1', 'fd12:3456::1'],
  'link-local': ['169.254.0.1', 'fe80::1', 'fe80::1%eth0', 'fec0::1'],
  metadata: ['169.254.169.254', 'fd00:ec2::254', '168.63.129.16', '::ffff:168.63.129.16', '64:ff9b::a83f:8110'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  'broadcast and reserved': ['255.255.255.255', '240.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
  'reserved in IPv6': ['100::1', '2001:db8::1', '2001::1', '2001:20::1', '3fff::1', '4000::1', '5f00::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1'],
  'IPv4-compatible': ['::127.0.0.1', '::a00:1', '::2'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::c0a8:1', '64:ff9b:1::1', '64:ff9b:1::808:808'],
  '6to4': ['2002:7f00:1::', '2002:a00:1::1', '2002:c0a8:101::'],
  ISATAP: ['2001:470::5efe:10.0.0.1', '2606:4700::200:5efe:127.0.0.1', '2606:4700::5efe:a9fe:a9fe'],
  'no address': ['', 'localhost', '1.2.3.4.5', '10.0.0.1/8', ':::1'],
};

const ALLOWED = {
  IPv4: ['8.8.8.8', '1.1.1.1', '172.15.255.255', '172.32.0.1', '100.63.255.255', '100.128.0.1', '223.255.255.255'],
  IPv6: ['2606:4700:4700::1111', '2a00:1450::1'],
  'embedded public IPv4': [
    '2606:4700::5efe:8.8.8.8',
    '::ffff:8.8.8.8',
    '::8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
  ],
};

void t.test('only global unicast addresses may be connected to', async (t) => {
  for (const [kind, addresses] of Object.entries(REFUSED))
    for (const address of addresses) t.type(refusedAddress(address), 'string', `${kind}: ${address}`);
  for (const [kind, addresses] of Object.entries(ALLOWED))
    for (const address of addresses) t.equal(refusedAddress(address), undefined, `${kind}: ${address}`);
});

void t.test('the metadata addresses of clouds are refused even if private addresses are allowed', async (t) => {
  const metadata = [
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
  ];
  metadata.push(
    'fd20:ce::254',
    'fd00:ec2::254%eth0',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
  );
  metadata.push('::a9fe:a9fe', '64:ff9b:1::a9fe:a9fe', 'fe80::5efe:a9fe:a9fe', '2606:4700::5efe:168.63.129.16');
  for (const address of metadata) t.equal(refusedAddress(address, { allowPrivate: true }), 'metadata', address);
  for (const address of ['127.0.0.1', '10.0.0.1', '169.254.0.1', 'fd00::1', '::1', '::ffff:127.0.0.1'])
    t.equal(refusedAddress(address, { allowPrivate: true }), undefined, address);
  t.ok(refusedHost('169.254.169.254', { allowPrivate: true }));
  t.ok(refusedHost('[fd00:ec2::254]', { allowPrivate: true }));
  t.notOk(refusedHost('localhost', { allowPrivate: true }));
});

void t.test('a URL is refused if its host is such an address, or a name of this machine', async (t) => {
  for (const host of [
    '127.0.0.1',
    '[::1]',
    '10.1.2.3',
    '[fd00::1]',
    'localhost',
    'localhost.',
    'a.localhost',
    '169.254.169.254',
  ]) {
    t.ok(refusedHost(host), host);
  }
  for (const host of ['example.com', 'localhost.example.com', '8.8.8.8', '[2606:4700::1111]'])
    t.notOk(refusedHost(host), host);
});
