// SPDX-License-Identifier: GPL-2.0-or-later
import { run } from "./harness.mjs";
import "./page.test.mjs";
import "./chain.test.mjs";
import "./views.test.mjs";
import "./save.test.mjs";
import "./difference.test.mjs";
import "./everywhere.test.mjs";
import "./hostile.test.mjs";
import "./embedded.test.mjs";
import "./large.test.mjs";
import "./report.test.mjs";
import "./answer.test.mjs";
await run();
