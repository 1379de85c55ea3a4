# apartments_lm of section 4.5.1.
lm(m2.price ~ construction.year + surface + floor + no.rooms + district, data = train)
