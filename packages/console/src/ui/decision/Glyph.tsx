import { GLYPH_SIZE, glyphPicture, type VoteSide } from "@runplane/domain"
import { memo } from "react"
import { voteFill } from "../../view/decision/VerdictTone.ts"

interface GlyphProps {
  readonly voters: ReadonlyArray<readonly [vote: VoteSide, weight: number]>
  readonly size?: number
}

/** A decision as a small ring, beside its word. */
export const Glyph = memo(function Glyph({ voters, size = 30 }: GlyphProps) {
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${GLYPH_SIZE.width} ${GLYPH_SIZE.height}`}
      width={size}
      height={(size * GLYPH_SIZE.height) / GLYPH_SIZE.width}
      className="shrink-0"
    >
      {glyphPicture(voters).map(({ path, vote }, at) => (
        <path key={at} d={path} className={voteFill[vote]} />
      ))}
    </svg>
  )
})
