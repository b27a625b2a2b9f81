import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';

/** A set of IP addresses. */
export interface Networks {
  has(address: string): boolean;
}

const MAPPED = '::ffff:';
/** The most characters of an IP address: 45 for IPv6 that ends like IPv4, and a zone. */
const LONGEST_ADDRESS = 64;
/** Networks that have a name. */
const NAMED: Readonly<Record<string, readonly string[]>> = { loopback: ['127.0.0.0/8', '::1'] };

/**
 * One form for each IP address: IPv6 is shortened (RFC 5952) and has no zone, and an IPv4 address in the form of IPv6
 * becomes IPv4. Undefined when the text is not an IP address.
 */
export function plainAddress(text: string): string | undefined {
  if (text.length > LONGEST_ADDRESS) return undefined;
  const kind = isIP(text);
  if (kind !== 6) return kind === 4 ? text : undefined;
  const { address } = new SocketAddress({ address: text.split('%', 1)[0]!, family: 'ipv6' });
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address;
}

/** Adds an address or a network (`10.0.0.0/8`). Returns false when the text is neither, or a network of everybody. */
function add(list: BlockList, text: string): boolean {
  const [given = '', bits, ...rest] = text.split('/');
  const address = plainAddress(given);
  if (address === undefined || rest.length > 0 || given.includes('%')) return false;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  if (bits === undefined) {
    list.addAddress(address, family);
    return true;
  }
  const isMapped = isIPv4(address) !== isIPv4(given); // the length of a prefix belongs to the form of its address
  if (isMapped || !/^[1-9]\d{0,2}$/.test(bits) || Number(bits) > (family === 'ipv4' ? 32 : 128)) return false;
  list.addSubnet(address, Number(bits), family);
  return true;
}

/**
 * Reads addresses and networks that are separated by commas: `10.0.0.7, 192.168.0.0/16, fd00::/8, loopback`. Undefined
 * when one of them is wrong.
 */
export function readNetworks(text: string): Networks | undefined {
  const list = new BlockList();
  for (const item of text.split(',').map((one) => one.trim())) {
    if (!(NAMED[item] ?? [item]).every((one) => add(list, one))) return undefined;
  }
  return {
    has(address) {
      const bare = plainAddress(address);
      return bare !== undefined && list.check(bare, isIPv4(bare) ? 'ipv4' : 'ipv6');
    },
  };
}
