import { PeopleAnswer, PeopleItem, PeopleQuestion, TurnRecord } from "@runplane/domain"
import { bodySchema } from "../../validation/RequestSchema.ts"

/** The content of an artifact of the kind `people.item`, as the launch service sends it. */
export const peopleItemContent = bodySchema(PeopleItem, { unknownKeys: "reject" })

/** The content of an artifact of the kind `people.answer`. */
export const peopleAnswerContent = bodySchema(PeopleAnswer, { unknownKeys: "reject" })

/** The content of an artifact of the kind `people.question`. */
export const peopleQuestionContent = bodySchema(PeopleQuestion, { unknownKeys: "reject" })

/** The content of an artifact of the kind `a2a.turn`. */
export const a2aTurnContent = bodySchema(TurnRecord, { unknownKeys: "reject" })
