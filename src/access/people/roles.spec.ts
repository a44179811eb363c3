import { describe, expect, it } from '@jest/globals';
import { findPasswordProblem, readEmail } from './email.js';
import { higherRole, isAllowed, leastRoles, roleNames, type Action } from './roles.js';

describe('a role', () => {
  const allowed = (role: (typeof roleNames)[number]) =>
    (Object.keys(leastRoles) as Action[]).filter((action) => isAllowed(role, action));

  it('allows what the table says, and what the earlier roles may do', () => {
    const viewer = ['view'];
    const analyst = [
      ...viewer,
      'see personal data',
      'resolve breaks',
      'request payments',
      'manage expected payments',
      'manage rules',
      'take files',
      'upload files',
      'send again',
      'acknowledge alerts',
      'play the payer',
      'see the audit',
      'prepare months',
    ];
    const approver = [...analyst, 'approve payments', 'close months'];
    const admin = [
      ...approver,
      'manage month limits',
      'manage payment rules',
      'manage connections',
      'manage keys',
      'manage people',
    ];
    expect(roleNames.map(allowed)).toEqual([viewer, analyst, approver, admin]);
  });

  it('is needed for everything', () => {
    const actions = Object.keys(leastRoles) as Action[];
    expect(actions.filter((action) => isAllowed(null, action))).toEqual([]);
  });

  it('of an account or of every account counts, whichever is higher', () => {
    expect(higherRole('viewer', 'admin')).toBe('admin');
    expect(higherRole('approver', 'analyst')).toBe('approver');
    expect(higherRole(null, 'viewer')).toBe('viewer');
    expect(higherRole(null, null)).toBeNull();
  });
});

describe('an e-mail', () => {
  it.each([
    [' Ana.Silva@Example.com ', 'ana.silva@example.com'],
    ['a@b', null],
    ['a b@example.com', null],
    ['<a@example.com>', null],
    [`${'a'.repeat(250)}@example.com`, null],
    ['', null],
  ])('%p is read as %p', (typed, email) => {
    expect(readEmail(typed)).toBe(email);
  });
});

describe('a password', () => {
  it.each([
    ['twelve chars', null],
    ['eleven char', 'too_short'],
    ['🔑🔑🔑🔑🔑🔑', 'too_short'],
    ['x'.repeat(201), 'too_long'],
    ['anasilva-anasilva', 'contains_email'],
    ['my AnaSilva@example.com', 'contains_email'],
  ])('%p: %p', (password, problem) => {
    expect(findPasswordProblem(password, 'anasilva@example.com')).toBe(problem);
  });
});
