import { describe, expect, it } from '@jest/globals';
import { lacksClaims, readIdentity, rolesOf, type Claims } from './sso-claims.js';

const ids = { iss: 'https://login.example', sub: '7' };
const settings = { groupsClaim: 'groups', trustsEmails: false };
const read = (claims: Claims, more: Claims = {}, changed = {}) =>
  readIdentity({ ...ids, ...claims }, more, { ...settings, ...changed });

describe('groups', () => {
  it.each<[string, string, Claims, Claims]>([
    ['of a list, without what is no text', 'groups', { groups: ['a', 7, 'b'] }, {}],
    ['of the userinfo endpoint', 'groups', {}, { groups: ['a', 'b'] }],
    ['inside another claim', 'realm_access.roles', { realm_access: { roles: ['a', 'b'] } }, {}],
    ['of a claim with points', 'https://x.example/g', { 'https://x.example/g': ['a', 'b'] }, {}],
  ])('are those %s', (_, groupsClaim, claims, more) => {
    expect(read(claims, more, { groupsClaim }).groups).toEqual(['a', 'b']);
  });

  it('may be one text, and are none where the claim is something else', () => {
    const found = ['a b', { a: 1 }, 7, null, undefined].map((groups) => read({ groups }).groups);
    expect(found).toEqual([['a b'], [], [], [], []]);
    expect(read({}, {}, { groupsClaim: 'constructor.name' }).groups).toEqual([]);
  });

  it('give the highest role of an account, and no role of another group', () => {
    const groupRoles = [
      { group: 'a', role: 'admin', slug: 'main' },
      { group: 'b', role: 'viewer', slug: 'main' },
      { group: 'b', role: 'viewer', slug: null },
      { group: 'A', role: 'admin', slug: null },
    ] as const;
    const expected = [
      ['main', 'admin'],
      [null, 'viewer'],
    ];
    expect([...rolesOf(['a', 'b', 'c'], groupRoles)]).toEqual(expected);
    expect(rolesOf([], groupRoles).size).toBe(0);
  });
});

describe('an e-mail', () => {
  it.each<[string, Claims, Claims, boolean]>([
    ['verified', { email: 'A@x.example', email_verified: true }, {}, true],
    ['verified, as a text', { email: 'a@x.example', email_verified: 'true' }, {}, true],
    ['of which the provider says nothing', { email: 'a@x.example' }, {}, false],
    ['verified elsewhere', {}, { email: 'a@x.example', email_verified: true }, true],
  ])('is %s', (_, claims, more, isEmailVerified) => {
    expect(read(claims, more)).toMatchObject({ email: 'a@x.example', isEmailVerified });
  });

  it('is not verified by what is said of another', () => {
    const other = { email: 'other@x.example', email_verified: true };
    const claims = { email: 'a@x.example', email_verified: false };
    expect(read(claims, other)).toMatchObject({ email: 'a@x.example', isEmailVerified: false });
    expect(read({ email: 'a@x.example' }, other)).toMatchObject({ email: other.email });
  });

  it('is trusted by a setting, where there is one', () => {
    const trusted = { trustsEmails: true };
    expect(read({ email: 'a@x.example' }, {}, trusted).isEmailVerified).toBe(true);
    expect(read({ upn: 'ana' }, {}, trusted)).toMatchObject({
      ...{ email: null, isEmailVerified: false, name: 'ana' },
    });
  });
});

it('asks the userinfo endpoint for what the ID token does not say', () => {
  const whole = { email: 'a@x.example', email_verified: false, groups: [] };
  expect([
    lacksClaims(whole, 'groups'),
    lacksClaims({ ...whole, groups: undefined }, 'groups'),
  ]).toEqual([false, true]);
});
