// Holds nothing: it carries the headers that the tests share precompiled.
