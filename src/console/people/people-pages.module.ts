import { Module } from '@nestjs/common';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { AuditPages } from './audit.controller.js';
import { OwnSessionPages } from './own-session.controller.js';
import { PeoplePages } from './people.controller.js';
import { SavedViewPages } from './saved-views.controller.js';
import { SignInPages } from './sign-in.controller.js';
import { SsoPages } from './sso.controller.js';

/** Signing in, the people of an account, and the audit. */
@Module({
  imports: [ConsoleFrameModule],
  controllers: [
    ...[SignInPages, SsoPages, OwnSessionPages, PeoplePages, AuditPages, SavedViewPages],
  ],
})
export class PeoplePagesModule {}
