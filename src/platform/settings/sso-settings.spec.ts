import { describe, expect, it } from '@jest/globals';
import { loadSettings } from './config.js';
import type { SettingsError } from './environment.js';

describe('single sign-on', () => {
  const sso = {
    OIDC_ISSUER: 'https://login.example/',
    OIDC_CLIENT_ID: 'concilia',
    OIDC_ROLES: 'CN=Finance, Staff=admin; treasury = analyst@main ;',
  };

  it('reads the roles of groups, whose names may have commas and equal signs', () => {
    expect(loadSettings(sso).sso).toMatchObject({
      issuer: 'https://login.example/',
      groupRoles: [
        { group: 'CN=Finance, Staff', role: 'admin', slug: null },
        { group: 'treasury', role: 'analyst', slug: 'main' },
      ],
    });
  });

  const problemsOf = (environment: Record<string, string>): string[] => {
    try {
      loadSettings(environment);
      return [];
    } catch (error) {
      return (error as SettingsError).problems;
    }
  };

  it('needs issuer, client and roles together, and https with a real bank', () => {
    expect(problemsOf({ OIDC_ISSUER: sso.OIDC_ISSUER })).toEqual([
      'OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_ROLES must be set together.',
    ]);
    const plain = { ...sso, OIDC_ISSUER: 'http://login.example' };
    expect(problemsOf(plain)).toEqual([]);
    const problem = 'OIDC_ISSUER must be an https URL: only the sandbox bank goes without.';
    const realBank = { BANK_PROFILE: 'generic', BANK_BASE_URL: 'https://bank.example' };
    expect(problemsOf({ ...realBank, ...plain })).toContain(problem);
    const onLoopback = { ...sso, OIDC_ISSUER: 'http://127.0.0.1:9000' };
    expect(problemsOf({ ...realBank, ...onLoopback })).not.toContain(problem);
  });
});
