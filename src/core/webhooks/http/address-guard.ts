import ipaddr from 'ipaddr.js';

const bytesOf = (address: ipaddr.IPv6, from: number): ipaddr.IPv4 =>
  new ipaddr.IPv4(address.toByteArray().slice(from, from + 4));

const EMBEDDED: { prefix: [ipaddr.IPv6, number]; at: number }[] = [
  { prefix: [ipaddr.IPv6.parse('::ffff:0:0'), 96], at: 12 }, // IPv4-mapped (RFC 4291 2.5.5.2)
  { prefix: [ipaddr.IPv6.parse('64:ff9b::'), 96], at: 12 }, // NAT64 (RFC 6052); 64:ff9b:1::/48 is for local use
  { prefix: [ipaddr.IPv6.parse('2002::'), 16], at: 2 }, // 6to4 (RFC 3056)
];
// IPv4-compatible addresses (RFC 4291 2.5.5.1); `::` and `::1` are in this range but have meanings of their own.
const COMPATIBLE: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('::'), 96];
// Interface identifiers that contain an IPv4 address (ISATAP, RFC 5214 6.1), in any network.
const ISATAP = [0x00, 0x02].map((first) => Buffer.from([first, 0x00, 0x5e, 0xfe]));
// The NAT64 prefix for local use (RFC 8215).
const LOCAL_NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b:1::'), 48];
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Addresses at which clouds give a machine its credentials and identity, to anybody who can reach the address: AWS (and its
 * containers), Azure, Google and most others, Alibaba, Oracle, Scaleway. No customer has a receiver there, so they are
 * refused even where private addresses are allowed.
 */
const METADATA: ReadonlySet<string> = new Set(
  (
    '169.254.169.254 169.254.169.253 169.254.169.123 169.254.170.2 169.254.170.23 169.254.42.42 ' +
    '100.100.100.200 168.63.129.16 192.0.0.192 ' +
    'fd00:ec2::254 fd00:ec2::253 fd00:ec2::123 fd00:ec2::23 fd20:ce::254 fd00:42::42'
  )
    .split(' ')
    .map((text) => ipaddr.parse(text).toNormalizedString()),
);

/**
 * Returns the reason for which a webhook must not go to an IP address (such as `loopback`, `private`, `linkLocal`), or
 * undefined. Only global unicast addresses are allowed, except those of clouds' metadata. If an IPv6 address leads to
 * an IPv4 address, the IPv4 address decides. With `allowPrivate` all addresses are allowed except those of metadata.
 */
export function refusedAddress(text: string, { allowPrivate = false } = {}): string | undefined {
  if (!ipaddr.isValid(text)) return 'not an IP address';
  const address = ipaddr.parse(text);
  if (isMetadata(address)) return 'metadata';
  return allowPrivate ? undefined : judge(address);
}

/** The IPv4 addresses to which an IPv6 address may lead. */
function embeddedIn(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const found = EMBEDDED.filter(({ prefix }) => address.match(prefix)).map(({ at }) => bytesOf(address, at));
  if (address.match(COMPATIBLE) || address.match(LOCAL_NAT64) || isIsatap(address)) found.push(bytesOf(address, 12));
  return found;
}

function isMetadata(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const all = address instanceof ipaddr.IPv4 ? [address] : [address, ...embeddedIn(address)];
  return all.some((one) => {
    const bare = one instanceof ipaddr.IPv6 ? new ipaddr.IPv6(one.parts) : one; // removes an IPv6 zone (`%eth0`)
    return METADATA.has(bare.toNormalizedString());
  });
}

function isIsatap(address: ipaddr.IPv6): boolean {
  const identifier = Buffer.from(address.toByteArray().slice(8, 12));
  return ISATAP.some((each) => each.equals(identifier));
}

function judge(address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
  const range = address.range();
  if (address instanceof ipaddr.IPv4) return range === 'unicast' ? undefined : range;
  for (const { prefix, at } of EMBEDDED) {
    if (address.match(prefix)) return judge(bytesOf(address, at));
  }
  if (address.match(COMPATIBLE) && range !== 'loopback' && range !== 'unspecified') return judge(bytesOf(address, 12));
  if (range !== 'unicast') return range;
  if (isIsatap(address)) return judge(bytesOf(address, 12));
  return address.match(GLOBAL_UNICAST) ? undefined : 'reserved';
}

/** Whether the host of a URL is a refused address or names this machine. Other names are checked when they are resolved. */
export function refusedHost(hostname: string, { allowPrivate = false } = {}): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(address)) return refusedAddress(address, { allowPrivate }) !== undefined;
  return !allowPrivate && /^(?:.+\.)?localhost\.?$/.test(hostname);
}
