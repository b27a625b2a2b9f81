import t from 'tap';
import { readProxyHeader } from '../../src/platform/entrance/proxy-header.ts';
import { addressesOf, binaryHeader, textHeader } from './proxy-headers.ts';

const text = (line: string): Buffer => Buffer.from(line, 'latin1');
const IPV6 = Buffer.concat([
  Buffer.from('20010db8000000000000000000000007', 'hex'),
  Buffer.alloc(16),
  Buffer.from([0x30, 0x39, 0x07, 0x5b]),
]);
const MAPPED = Buffer.concat([Buffer.from('00000000000000000000ffffc0000207', 'hex'), Buffer.alloc(20)]);

const GOOD: [name: string, header: Buffer, client: string | null][] = [
  ['TCP4', textHeader('192.0.2.7'), '192.0.2.7'],
  ['TCP6', textHeader('2001:DB8:0::7'), '2001:db8::7'],
  ['TCP6 with an IPv4 address in it', textHeader('::ffff:192.0.2.7'), '192.0.2.7'],
  ['UNKNOWN alone', text('PROXY UNKNOWN\r\n'), null],
  ['UNKNOWN with more', text(`PROXY UNKNOWN ${'f'.repeat(90)}\r\n`), null],
  ['version 2, IPv4', binaryHeader({ rest: addressesOf('192.0.2.7') }), '192.0.2.7'],
  ['version 2, IPv6', binaryHeader({ kind: 0x21, rest: IPV6 }), '2001:db8::7'],
  ['version 2, IPv4 in IPv6', binaryHeader({ kind: 0x21, rest: MAPPED }), '192.0.2.7'],
  [
    'version 2, with what the proxy tells about TLS',
    binaryHeader({ rest: Buffer.concat([addressesOf('192.0.2.7'), Buffer.alloc(300, 4)]) }),
    '192.0.2.7',
  ],
  ['version 2, LOCAL', binaryHeader({ command: 0x20, kind: 0 }), null],
  ['version 2, LOCAL with addresses', binaryHeader({ command: 0x20, rest: addressesOf('192.0.2.7') }), null],
  ['version 2, unspecified', binaryHeader({ kind: 0, rest: Buffer.alloc(5) }), null],
  ['version 2, over a Unix socket', binaryHeader({ kind: 0x31, rest: Buffer.alloc(216) }), null],
];

t.test('a header of the PROXY protocol names the client, in one piece and byte by byte', async (t) => {
  for (const [name, header, client] of GOOD) {
    const more = Buffer.concat([header, Buffer.from('\x10\x0e and what follows')]);
    t.same(readProxyHeader(more), { bytes: header.length, client }, name);
    for (let length = 0; length < header.length; length += 1) {
      if (readProxyHeader(header.subarray(0, length)) !== 'more') t.fail(`${name}: ${length} bytes are too few`);
    }
  }
});

t.test('what is no header is refused as soon as that is certain', async (t) => {
  const BAD: [name: string, data: Buffer][] = [
    ['a CONNECT of MQTT', Buffer.from('101000044d515454', 'hex')],
    ['a request', text('GET / HTTP/1.1\r\n')],
    ['a ClientHello', Buffer.from('1603010200', 'hex')],
    ['another word', text('PROXIES ')],
    ['lower case', text('proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n')],
    ['a protocol that does not exist', text('PROXY UDP4 192.0.2.7 192.0.2.8 1 2\r\n')],
    ['no protocol', text('PROXY \r\n')],
    ['an address of the other family', text('PROXY TCP4 ::1 ::1 1 2\r\n')],
    ['an address that is none', text('PROXY TCP4 192.0.2.256 192.0.2.8 1 2\r\n')],
    ['an address with zeros before it', text('PROXY TCP4 192.0.02.7 192.0.2.8 1 2\r\n')],
    ['a port too large', text('PROXY TCP4 192.0.2.7 192.0.2.8 65536 2\r\n')],
    ['a port with a sign', text('PROXY TCP4 192.0.2.7 192.0.2.8 +1 2\r\n')],
    ['a missing port', text('PROXY TCP4 192.0.2.7 192.0.2.8 1\r\n')],
    ['two spaces', text('PROXY TCP4  192.0.2.7 192.0.2.8 1 2\r\n')],
    ['more than there is', text('PROXY TCP4 192.0.2.7 192.0.2.8 1 2 3\r\n')],
    ['a line without an end', text(`PROXY UNKNOWN ${'f'.repeat(93)}`)],
    ['a version that does not exist', binaryHeader({ command: 0x31, rest: addressesOf('192.0.2.7') })],
    ['a command that does not exist', binaryHeader({ command: 0x22, rest: addressesOf('192.0.2.7') })],
    ['a family that does not exist', binaryHeader({ kind: 0x41, rest: Buffer.alloc(36) })],
    ['a protocol that does not exist in version 2', binaryHeader({ kind: 0x13, rest: addressesOf('192.0.2.7') })],
    ['fewer bytes than addresses have', binaryHeader({ rest: Buffer.alloc(11) })],
    ['fewer bytes than IPv6 addresses have', binaryHeader({ kind: 0x21, rest: Buffer.alloc(35) })],
    ['a length that nobody needs', binaryHeader({ length: 4097 })],
  ];
  for (const [name, data] of BAD) t.equal(readProxyHeader(data), 'bad', name);
});

t.test('no bytes make the reader fail, or read beyond what has come', async (t) => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const heads = GOOD.map(([, header]) => header);
  for (let round = 0; round < 20_000; round += 1) {
    const data = Buffer.from(heads[random(heads.length)]!);
    for (let change = random(3); change >= 0; change -= 1) data[random(data.length)] = random(256);
    const read = readProxyHeader(data.subarray(0, random(data.length + 1)));
    if (typeof read === 'object' && read.bytes > data.length) t.fail(`read beyond the end: ${data.toString('hex')}`);
  }
  t.pass('20,000 headers');
});
