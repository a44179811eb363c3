import { Module } from '@nestjs/common';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { AccountPages } from './accounts.controller.js';

/** Where the console begins. Its last page answers for each address that no other page has. */
@Module({ imports: [ConsoleFrameModule], controllers: [AccountPages] })
export class AccountsPagesModule {}
