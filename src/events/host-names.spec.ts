import { expect, it } from '@jest/globals';
import { parseHosts } from './host-names.js';

it('reads the addresses of each name, in lower case and in the order of the file', () => {
  const text = [
    '# 10.0.0.9 commented',
    '127.0.0.1\tlocalhost  Shop.Test # a comment',
    '10.0.0.1 shop.test shop.test',
    '::1 ip6-localhost\r',
    'not-an-address name',
    '10.0.0.2',
    '',
  ].join('\n');
  expect([...parseHosts(text)]).toEqual([
    ['localhost', ['127.0.0.1']],
    ['shop.test', ['127.0.0.1', '10.0.0.1']],
    ['ip6-localhost', ['::1']],
  ]);
});
