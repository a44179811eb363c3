import { Module } from '@nestjs/common';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { ComponentsPage } from './components.controller.js';

/** The kit, for those who build pages. */
@Module({ imports: [ConsoleFrameModule], controllers: [ComponentsPage] })
export class ComponentsPagesModule {}
