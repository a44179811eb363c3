import { Module } from '@nestjs/common';
import { Audit } from './audit.service.js';
import { NamesOfActors } from './names-of-actors.service.js';
import { Operators } from './operators.service.js';
import { OperatorPasswords } from './passwords.service.js';
import { OperatorSessions } from './sessions.service.js';
import { SavedViews } from './saved-views.service.js';
import { SignInLimits } from './sign-in-limits.service.js';
import { SsoPeople } from './sso-people.service.js';
import { SsoProvider } from './sso-provider.service.js';

/** People who sign in to the console: their roles, sessions, and the audit of what they did. */
@Module({
  providers: [
    ...[Audit, Operators, OperatorSessions, OperatorPasswords, SavedViews, SignInLimits],
    ...[SsoPeople, SsoProvider, NamesOfActors],
  ],
  exports: [Audit, NamesOfActors, Operators, OperatorSessions, SavedViews, SsoPeople, SsoProvider],
})
export class OperatorsModule {}
