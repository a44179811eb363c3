// E-mail addresses and passwords, as people type them.

/** Trimmed and in lower case; null for what cannot be an address. */
export function readEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return email.length <= 254 && /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>".]+$/.test(email) ? email : null;
}

const minPasswordLength = 12;
const maxPasswordLength = 200;

export type PasswordProblem = 'too_short' | 'too_long' | 'contains_email';

/** Null for a password that may be set. Its length counts, and not its kinds (NIST 800-63B). */
export function findPasswordProblem(password: string, email: string): PasswordProblem | null {
  const length = [...password].length;
  if (length < minPasswordLength) return 'too_short';
  if (length > maxPasswordLength) return 'too_long';
  const [name = ''] = email.split('@');
  const lower = password.toLowerCase();
  if (lower.includes(email) || (name.length > 5 && lower.includes(name))) return 'contains_email';
  return null;
}
